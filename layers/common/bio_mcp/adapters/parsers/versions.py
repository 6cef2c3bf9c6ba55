"""What the sections of a file depend on besides the file: our readers, the libraries and tesseract."""

import re
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

READERS = 1  # raise it whenever the same file may be read differently
_PACKAGES = ("lxml", "markdown-it-py", "pypdfium2", "python-docx")


def versions(tesseract: str, environment: Mapping[str, str]) -> str:
    """One line that names every version, such as `1 lxml-6.1 ... tesseract-5.3.0`."""
    return " ".join([str(READERS), *map(_package, _PACKAGES), f"tesseract-{_program(tesseract, environment)}"])


def _package(name: str) -> str:
    try:
        return f"{name}-{version(name)}"
    except PackageNotFoundError:
        return f"{name}-none"


def _program(tesseract: str, environment: Mapping[str, str]) -> str:
    try:
        ran = subprocess.run([tesseract, "--version"], env=dict(environment), capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return "none"
    found = re.search(rb"tesseract v?(\d[\w.-]*)", ran.stdout + ran.stderr)
    return found[1].decode("ascii", "replace") if found else "unknown"
