"""Builds what a release has, into dist/: wheel, sdist, bundle for Claude Desktop, SBOM. The same bytes each time.

`python -m scripts.distribution [--into DIR]`
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from bio_mcp import __version__
from scripts.sbom import NAME, bill_of

ROOT = Path(__file__).parents[1]
MANIFEST = ROOT / "manifest.json"
WRITTEN = (2026, 1, 1, 0, 0, 0)  # the time of each file in a bundle
EPOCH = "1767225600"  # the same, for wheel and sdist

PROJECT = f"""\
[project]
name = "bio-mcp-bundle"
version = "{__version__}"
requires-python = ">=3.11"
dependencies = ["{NAME}=={__version__}"]
"""
SERVER = '''\
"""What Claude Desktop starts: the server over standard input and output."""

import sys

from bio_mcp.doors.cli import main

sys.exit(main(["stdio"]))
'''


def packages(into: Path) -> None:
    """Build wheel and sdist. Raises `CalledProcessError`."""
    built = ["build", "--quiet", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(into), str(ROOT)]
    env = os.environ | {"SOURCE_DATE_EPOCH": EPOCH}
    for kind in ("--wheel", "--sdist"):
        subprocess.run([Path(sys.executable).with_name("uv"), *built, kind], check=True, env=env)


def bundle(into: Path) -> Path:
    """Write the MCP bundle: the manifest, and a project whose only dependency is this version of the distribution."""
    path = into / f"{NAME}-{__version__}.mcpb"
    contents = {"manifest.json": MANIFEST.read_text(encoding="utf-8"), "pyproject.toml": PROJECT, "server.py": SERVER}
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, text in contents.items():
            archive.writestr(ZipInfo(name, WRITTEN), text, ZIP_DEFLATED)
    return path


def bill(into: Path) -> Path:
    """Write the SBOM of what the lock of a laptop names."""
    path = into / f"{NAME}-{__version__}.cdx.json"
    path.write_text(json.dumps(bill_of(ROOT / "requirements/run.txt"), indent=2) + "\n", encoding="utf-8")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts.distribution", description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "dist")
    into: Path = parser.parse_args().into
    into.mkdir(parents=True, exist_ok=True)
    packages(into)
    bundle(into)
    bill(into)
    print("\n".join(sorted(each.name for each in into.iterdir())))


if __name__ == "__main__":
    main()
