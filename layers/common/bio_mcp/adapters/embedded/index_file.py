"""Arrays that grow, and a memory-mapped file of them: a copy of what is expensive to rebuild, safe to lose at any time.

The file is a JSON header followed by each array, aligned to a page, with spare rows behind it. The arrays are mapped
copy-on-write, so rows can be appended for a while without copying the array. The header's first line holds its length
and CRC-32; the header holds a checksum of each array. Checksums run at memory speed, some 40 ms for the 0.5 GB of
50,000 papers, but touch every page: a file that was written or found whole is trusted until it changes. Its identity
stands in another file beside it: what writes to a file, or puts another in its place, gives it another time of change,
which no program can set.
"""

import json
import mmap
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import DTypeLike, NDArray

from bio_mcp.adapters.embedded.database import presence_in
from bio_mcp.errors import StoreFailed

Scalar = TypeVar("Scalar", bound=np.generic)

SPARE = 8  # capacity beyond the request: one eighth


class GrowableArray(Generic[Scalar]):
    """An array that grows at its end. Views taken earlier never change."""

    def __init__(self, dtype: DTypeLike, *shape: int) -> None:
        self._buffer: NDArray[Any] = np.empty((0, *shape), dtype=dtype)
        self._size = 0

    @staticmethod
    def over(buffer: NDArray[Any], size: int) -> "GrowableArray[Any]":
        """An array over `buffer`, whose first `size` rows are in use; the others are spare capacity."""
        array: GrowableArray[Any] = GrowableArray(buffer.dtype, *buffer.shape[1:])
        array._buffer, array._size = buffer, size
        return array

    def reserve(self, size: int) -> None:
        """Allocate capacity for `size` rows in all. Untouched memory costs nothing."""
        if size > len(self._buffer):
            grown = np.empty((size, *self._buffer.shape[1:]), dtype=self._buffer.dtype)
            grown[: self._size] = self._buffer[: self._size]
            self._buffer = grown

    def append(self, values: NDArray[Any]) -> None:
        """Append rows, growing the buffer by an eighth more than needed."""
        end = self._size + len(values)
        if end > len(self._buffer):
            self.reserve(end + end // SPARE)
        self._buffer[self._size : end] = values
        self._size = end

    @property
    def view(self) -> NDArray[Scalar]:
        """The rows in use, without a copy."""
        return self._buffer[: self._size]


SETTLED_S = 2  # a file that changed less long ago may change again at the same time, by a coarse clock of a file system


def is_verified(path: Path, stat: os.stat_result) -> bool:
    """Whether the file at `path`, which is as `stat` says, is known to be whole."""
    try:
        return Path(f"{path}-verified").read_text("ascii") == _identity(stat)
    except (OSError, ValueError):
        return False


def remember(path: Path, stat: os.stat_result) -> None:
    """Remember that the file that is as `stat` says is whole; nothing where that cannot be written."""
    with suppress(OSError):
        Path(f"{path}-verified").write_text(_identity(stat), "ascii")


def _identity(stat: os.stat_result) -> str:
    return f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}\n"


FAMILY = b"bio-mcp index "
MAGIC = FAMILY + b"3\n"
FIRST_LINE = len(MAGIC) + len(b"1234567890 12345678\n")
PAGE = 4_096
HEADER = 1 << 20  # bytes that the header has
MAP_FROM = 64 << 20  # bytes; a smaller file is read into memory, where later changes to the file do no harm
ROOM = 8  # spare rows behind an array: one eighth of its rows
FREE = 4  # the file is written only if the disk has this many times its size free

Arrays = Mapping[str, NDArray[Any]]


class Reason(StrEnum):
    """Why a file is not used, after its name."""

    MISSING = "is not there"
    UNREADABLE = "cannot be read"
    OTHER_VERSION = "is of another version of bio-mcp"
    DAMAGED = "is damaged"
    OTHER_CORPUS = "is of another corpus, or of another past of this one"
    OUTDATED = "lacks too many papers that were written since"


@dataclass(eq=False)
class Unusable(Exception):
    """The file is not to be used, for this `reason`."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """The file's metadata (`about`) and its arrays: name -> (array with spare rows, number of rows in use)."""

    about: dict[str, Any]
    arrays: dict[str, tuple[NDArray[Any], int]]
    _path: Path
    _stat: os.stat_result

    @property
    def has_changed(self) -> bool:
        """Whether the file was written to or truncated since it was opened; its arrays must not be touched then.

        A new file moved into its place is harmless: the mapping still shows the old one.
        """
        try:
            now = self._path.stat()
        except OSError:
            return False
        same_file = (now.st_dev, now.st_ino) == (self._stat.st_dev, self._stat.st_ino)
        return same_file and (now.st_size, now.st_mtime_ns) != (self._stat.st_size, self._stat.st_mtime_ns)


def write_arrays(path: Path, about: dict[str, Any], arrays: Arrays) -> bool:
    """Replace the file atomically; what was written is trusted as if it had been verified.

    Returns False, leaving the old file, if the disk has little room or the write fails.
    """
    places, end = _layout_of(arrays)
    header = json.dumps({"about": about, "size": end, "arrays": places}).encode()
    first_line = MAGIC + b"%010d %08x\n" % (len(header), crc32(header))
    if FIRST_LINE + len(header) > places[next(iter(places))]["at"]:
        return False
    try:
        presence = presence_in(path.parent)
        for left in path.parent.glob(f"{path.name}.*"):  # by processes that ended while writing
            if not presence.is_running(left.name.removeprefix(f"{path.name}.")):
                left.unlink(missing_ok=True)
        if shutil.disk_usage(path.parent).free < FREE * end:
            return False
        scratch = Path(f"{path}.{presence.mark}")
        with ExitStack() as cleanup, open(scratch, "wb", opener=partial(os.open, mode=0o600)) as file:
            cleanup.callback(scratch.unlink, missing_ok=True)
            file.write(first_line + header)
            for name, array in arrays.items():
                file.seek(places[name]["at"])
                file.write(np.ascontiguousarray(array).data)
            file.truncate(end)
            file.flush()
            os.fsync(file.fileno())
            scratch.replace(path)
            remember(path, os.fstat(file.fileno()))
    except (OSError, StoreFailed):
        return False
    return True


def _layout_of(arrays: Arrays) -> tuple[dict[str, dict[str, Any]], int]:
    """The layout of the file: offset, type, rows, capacity and checksum of each array, and the size of the file in
    bytes."""
    names = sum(len(name) + 140 for name in arrays)
    at = -(-(names + HEADER) // PAGE) * PAGE
    places = {}
    for name, array in arrays.items():
        room = len(array) + len(array) // ROOM
        places[name] = {"at": at, "type": array.dtype.str, "rows": len(array), "room": room, "shape": array.shape[1:]}
        places[name]["checksum"] = checksum(array)
        at += -(-room * (array.nbytes // max(1, len(array))) // PAGE) * PAGE
    return places, at


def checksum(array: NDArray[Any]) -> int:
    """CRC-32 over the sum of each page's 64-bit words and over the bytes behind the last whole page."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    whole = len(flat) // PAGE * PAGE
    sums = flat[:whole].view(np.uint64).reshape(-1, PAGE // 8).sum(axis=1)
    return crc32(flat[whole:].data, crc32(sums.data))


def read_arrays(path: Path, map_from: int = MAP_FROM, *, once: bool = False) -> ArrayFile:
    """Open the file, mapped if it has at least `map_from` bytes. Raises `Unusable`.

    Its checksums are verified; with `once`, unless the file is one that was written or verified before.
    """
    try:
        with path.open("rb") as file:
            stat, at = os.fstat(file.fileno()), time.time()
            header = _header(file.read(FIRST_LINE), file.read(HEADER))
            if stat.st_size != header["size"]:
                raise Unusable(Reason.DAMAGED)
            file.seek(0)
            mapped = stat.st_size >= map_from and mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            whole = np.frombuffer(mapped, np.uint8) if mapped else np.fromfile(file, np.uint8)
    except FileNotFoundError:
        raise Unusable(Reason.MISSING) from None
    except OSError:
        raise Unusable(Reason.UNREADABLE) from None
    if len(whole) != stat.st_size:
        raise Unusable(Reason.DAMAGED)
    arrays = {name: _mapped(whole, place) for name, place in header["arrays"].items()}
    if once and is_verified(path, stat):
        return ArrayFile(header["about"], arrays, path, stat)
    if any(checksum(array[:rows]) != header["arrays"][name]["checksum"] for name, (array, rows) in arrays.items()):
        with suppress(OSError):
            Path(f"{path}-verified").unlink()
        raise Unusable(Reason.DAMAGED)
    if at - max(stat.st_mtime, stat.st_ctime) > SETTLED_S:
        remember(path, stat)
    return ArrayFile(header["about"], arrays, path, stat)


def _header(first_line: bytes, rest: bytes) -> dict[str, Any]:
    """Parse the header. Raises `Unusable`."""
    if not first_line.startswith(MAGIC):
        raise Unusable(Reason.OTHER_VERSION if first_line.startswith(FAMILY) else Reason.DAMAGED)
    try:
        length, _, crc = first_line[len(MAGIC) :].decode("ascii").partition(" ")
        text = rest[: int(length)]
        if len(text) != int(length) or crc32(text) != int(crc, 16):
            raise Unusable(Reason.DAMAGED)
        header: dict[str, Any] = json.loads(text)
    except ValueError:
        raise Unusable(Reason.DAMAGED) from None
    return header


def _mapped(whole: NDArray[np.uint8], place: dict[str, Any]) -> tuple[NDArray[Any], int]:
    kind, shape = np.dtype(place["type"]), (place["room"], *place["shape"])
    size = int(np.prod(shape)) * kind.itemsize
    array = whole[place["at"] : place["at"] + size].view(np.ndarray).view(kind).reshape(shape)
    return array, place["rows"]
