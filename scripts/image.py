"""Builds a container image, of the endpoint or of the function that ingests:

    python -m scripts.image endpoint --arch arm64 --tag NAME

What it runs is laid out on this machine for the architecture that is asked for, from locks: of the endpoint with the
model of the package, of the function from the layers that `sam build` made, so that an image and a function of layers
run the same files. Nothing but Debian's packages is installed while an image is built.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECIPES = {"endpoint": ROOT / "container/Dockerfile", "ingest": ROOT / "layers/parsing/Dockerfile"}
LOCK = ROOT / "container/requirements.txt"
PROGRAMS = ("bio-mcp", "health")
CONTEXT = ROOT / ".cache/image"
BUILT = ROOT / ".aws-sam/build"
LAYERS = ("CommonLayer", "InferenceLayer", "ParsingLayer")
PLATFORMS = {"arm64": ("linux/arm64", "aarch64-manylinux_2_28"), "x86_64": ("linux/amd64", "x86_64-manylinux_2_28")}
PYTHON = "3.13"


def lay_out_endpoint(arch: str, into: Path) -> None:
    """Put what the recipe copies into a directory, emptied first. Raises `CalledProcessError` and `OSError`."""
    shutil.rmtree(into, ignore_errors=True)
    target = into / "root/opt/python"
    _install(LOCK, arch, target)
    ours = ROOT / "layers/common/bio_mcp"
    shutil.copytree(ours, target / "bio_mcp", ignore=shutil.ignore_patterns("__pycache__"))
    programs = into / "root/usr/local/bin"
    programs.mkdir(parents=True)
    for name in PROGRAMS:
        shutil.copy(ROOT / "container" / name, programs)


def lay_out_ingest(built: Path, arch: str, into: Path) -> None:
    """The same of the function, from the directory of `sam build`. Raises `FileNotFoundError` where it is not built."""
    shutil.rmtree(into, ignore_errors=True)
    for layer in LAYERS:
        shutil.copytree(built / layer, into / "opt", dirs_exist_ok=True)
    (into / "task").mkdir()
    shutil.copy(ROOT / "functions/ingest/app.py", into / "task")
    _install(ROOT / "requirements/lambda.txt", arch, into / "runtime")


def _install(lock: Path, arch: str, target: Path) -> None:
    chosen: list[str | Path] = ["--python-version", PYTHON, "--python-platform", PLATFORMS[arch][1], "--target", target]
    locked: list[str | Path] = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", lock]
    subprocess.run([ROOT / ".venv/bin/uv", "pip", "install", "--quiet", *chosen, *locked], check=True)


def build(
    which: str, context: Path, arch: str, tag: str, options: Sequence[str] = (), env: Mapping[str, str] = os.environ
) -> None:
    """Build the image of what was laid out. Raises `CalledProcessError`."""
    named: list[str | Path] = ["--platform", PLATFORMS[arch][0], "--tag", tag, "--file", RECIPES[which]]
    subprocess.run(["docker", "build", *named, *options, context], check=True, env=env)


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts.image")
    parser.add_argument("which", choices=RECIPES)
    parser.add_argument("--arch", choices=PLATFORMS, required=True)
    parser.add_argument("--tag", required=True, help="name of the image, as it is pushed")
    given = parser.parse_args()
    try:
        if given.which == "endpoint":
            lay_out_endpoint(given.arch, CONTEXT)
        else:
            lay_out_ingest(BUILT, given.arch, CONTEXT)
        build(given.which, CONTEXT, given.arch, given.tag)
    except (OSError, subprocess.CalledProcessError) as problem:
        sys.exit(f"the image was not built: {problem}")


if __name__ == "__main__":
    main()
