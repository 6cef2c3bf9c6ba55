"""Builds the container image of the endpoint: `python -m scripts.image --arch arm64 --tag NAME`.

What it runs is laid out on this machine for the architecture that is asked for, from a lock and with the model of the
package, so that nothing but Debian's packages is installed while the image is built.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.ingest_image import PLATFORMS, PYTHON

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "container/Dockerfile"
LOCK = ROOT / "container/requirements.txt"
PROGRAMS = ("bio-mcp", "health")
CONTEXT = ROOT / ".cache/image"


def lay_out(arch: str, into: Path) -> None:
    """Put what the recipe copies into a directory, emptied first. Raises `CalledProcessError` and `OSError`."""
    shutil.rmtree(into, ignore_errors=True)
    target = into / "root/opt/python"
    chosen: list[str | Path] = ["--python-version", PYTHON, "--python-platform", PLATFORMS[arch][1], "--target", target]
    locked: list[str | Path] = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", LOCK]
    subprocess.run([ROOT / ".venv/bin/uv", "pip", "install", "--quiet", *chosen, *locked], check=True)
    ours = ROOT / "layers/common/bio_mcp"
    shutil.copytree(ours, target / "bio_mcp", ignore=shutil.ignore_patterns("__pycache__"))
    programs = into / "root/usr/local/bin"
    programs.mkdir(parents=True)
    for name in PROGRAMS:
        shutil.copy(ROOT / "container" / name, programs)


def build(context: Path, arch: str, tag: str, options: Sequence[str] = (), env: Mapping[str, str] = os.environ) -> None:
    """Build the image of what was laid out. Raises `CalledProcessError`."""
    named: list[str | Path] = ["--platform", PLATFORMS[arch][0], "--tag", tag, "--file", RECIPE]
    subprocess.run(["docker", "build", *named, *options, context], check=True, env=env)


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts.image")
    parser.add_argument("--arch", choices=PLATFORMS, required=True)
    parser.add_argument("--tag", required=True, help="name of the image, as it is pushed")
    given = parser.parse_args()
    try:
        lay_out(given.arch, CONTEXT)
        build(CONTEXT, given.arch, given.tag)
    except (OSError, subprocess.CalledProcessError) as problem:
        sys.exit(f"the image was not built: {problem}")


if __name__ == "__main__":
    main()
