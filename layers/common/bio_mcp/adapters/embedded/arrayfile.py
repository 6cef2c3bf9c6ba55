"""Arrays in one file that is mapped, not read: what is expensive to make again, and may be lost at any time.

The file is a JSON header, then each array at a page's start, with room behind it: a mapped array is written to in
private memory, so it can be appended to for a while without being copied.
"""

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"bio-mcp index 1\n"
PAGE = 4_096
ROOM = 8  # one eighth of an array's rows are kept free behind it
FREE = 4  # written only where the disk has so many times its size free

Arrays = Mapping[str, NDArray[Any]]


def write_arrays(path: Path, about: dict[str, Any], arrays: Arrays) -> bool:
    """Replace the file in one step; says whether it could be written. A disk with little room is left alone."""
    places, end = _places(arrays)
    header = MAGIC + json.dumps({"about": about, "size": end, "arrays": places}).encode()
    if len(header) >= places[next(iter(places))]["at"] or shutil.disk_usage(path.parent).free < FREE * end:
        return False
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with scratch.open("wb") as file:
            file.write(header)
            for name, array in arrays.items():
                file.seek(places[name]["at"])
                file.write(np.ascontiguousarray(array).data)
            file.truncate(end)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    except OSError:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        return False
    return True


def _places(arrays: Arrays) -> tuple[dict[str, dict[str, Any]], int]:
    """Where each array stands, with how many rows of room, and the size of the file."""
    names = sum(len(name) + 120 for name in arrays)
    at = -(-(names + (1 << 20)) // PAGE) * PAGE
    places = {}
    for name, array in arrays.items():
        room = len(array) + len(array) // ROOM
        places[name] = {"at": at, "type": array.dtype.str, "rows": len(array), "room": room, "shape": array.shape[1:]}
        at += -(-room * (array.nbytes // max(1, len(array))) // PAGE) * PAGE
    return places, at


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, tuple[NDArray[Any], int]]] | None:
    """What the file is about, and each array with its room and its number of rows; None without a whole file."""
    try:
        with path.open("rb") as file:
            head = file.read(1 << 20)
        if not head.startswith(MAGIC):
            return None
        header, _ = json.JSONDecoder().raw_decode(head[len(MAGIC) :].decode("utf-8", "replace"))
        if path.stat().st_size != header["size"]:
            return None
        whole = np.memmap(path, dtype=np.uint8, mode="c")
    except (OSError, ValueError):
        return None
    return header["about"], {name: _mapped(whole, place) for name, place in header["arrays"].items()}


def _mapped(whole: NDArray[np.uint8], place: dict[str, Any]) -> tuple[NDArray[Any], int]:
    kind, shape = np.dtype(place["type"]), (place["room"], *place["shape"])
    size = int(np.prod(shape)) * kind.itemsize
    array = whole[place["at"] : place["at"] + size].view(np.ndarray).view(kind).reshape(shape)
    return array, place["rows"]
