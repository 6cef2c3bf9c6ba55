"""Writes a client's file: whole or not at all, with a copy of what stood there before."""

import shutil
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile

from bio_mcp.doors.client_configs.clients import Client, Entry
from bio_mcp.doors.client_configs.merging import Refused, into_json, into_toml

LARGEST = 16 << 20  # bytes of a file that is read


def add(client: Client, path: Path, entry: Entry) -> Path | None:
    """Put `entry` into the file; returns the copy of what stood there before, None where nothing did.

    Nothing is written, and `path` itself is returned, where it says that already. Raises `Refused` and `OSError`.
    """
    path = path.resolve()  # a link to a file among others of its kind stays one
    before = _read(path)
    into = into_toml if path.suffix == ".toml" else into_json
    after = into(before or "", client.section, entry)
    if before == after:
        return path
    backup = _copy(path) if before is not None else None
    _replace(path, after)
    return backup


def _read(path: Path) -> str | None:
    if not path.exists():
        return None
    if path.stat().st_size > LARGEST:
        raise Refused("it is too large")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8") from None


def _copy(path: Path) -> Path:
    """Copy the file beside itself, under a name that nothing has."""
    names = (path.with_name(f"{path.name}.bak{number or ''}") for number in count())
    backup = next(name for name in names if not name.exists())
    shutil.copy2(path, backup)
    return backup


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", encoding="utf-8", newline="", dir=path.parent, delete=False) as new:
        new.write(text)
    if path.exists():
        shutil.copymode(path, new.name)
    Path(new.name).replace(path)
