"""Builds the container image of the function that ingests: `python -m scripts.ingest_image --arch arm64 --tag NAME`.

It takes the layers that `sam build` made for that architecture, so that an image and a function of layers run the same
files, and nothing but Debian's packages is installed while the image is built.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "layers/parsing/Dockerfile"
BUILT = ROOT / ".aws-sam/build"
LAYERS = ("CommonLayer", "InferenceLayer", "ParsingLayer")
PLATFORMS = {"arm64": ("linux/arm64", "aarch64-manylinux_2_28"), "x86_64": ("linux/amd64", "x86_64-manylinux_2_28")}
PYTHON = "3.13"


def lay_out(built: Path, arch: str, into: Path) -> None:
    """Put what the recipe copies into a directory, emptied first. Raises `FileNotFoundError` where it is not built."""
    shutil.rmtree(into, ignore_errors=True)
    for layer in LAYERS:
        shutil.copytree(built / layer, into / "opt", dirs_exist_ok=True)
    (into / "task").mkdir()
    shutil.copy(ROOT / "functions/ingest/app.py", into / "task")
    chosen: list[str | Path] = [
        "--python-version",
        PYTHON,
        "--python-platform",
        PLATFORMS[arch][1],
        "--target",
        into / "runtime",
    ]
    locked: list[str | Path] = [
        "--require-hashes",
        "--no-deps",
        "--only-binary",
        ":all:",
        "-r",
        ROOT / "requirements/lambda.txt",
    ]
    subprocess.run([ROOT / ".venv/bin/uv", "pip", "install", "--quiet", *chosen, *locked], check=True)


def build(context: Path, arch: str, tag: str, options: Sequence[str] = (), env: Mapping[str, str] = os.environ) -> None:
    """Build the image of what was laid out. Raises `CalledProcessError`."""
    named: list[str | Path] = ["--platform", PLATFORMS[arch][0], "--tag", tag, "--file", RECIPE]
    subprocess.run(["docker", "build", *named, *options, context], check=True, env=env)


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts.ingest_image")
    parser.add_argument("--arch", choices=PLATFORMS, required=True)
    parser.add_argument("--tag", required=True, help="name of the image, as it is pushed")
    given = parser.parse_args()
    context = BUILT.parent / "ingest-image"
    try:
        lay_out(BUILT, given.arch, context)
        build(context, given.arch, given.tag)
    except (FileNotFoundError, subprocess.CalledProcessError) as problem:
        sys.exit(f"the image was not built: {problem}")


if __name__ == "__main__":
    main()
