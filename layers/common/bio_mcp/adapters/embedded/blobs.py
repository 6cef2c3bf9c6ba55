"""Blobs as files in a directory."""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from bio_mcp.adapters.embedded.database import WITNESSES, make_directory, refused
from bio_mcp.adapters.stored import checked, folder_named, is_key, key_of, key_of_hash, missing
from bio_mcp.ports.stores import EXPIRING_DAYS

UNREADABLE = "The stored files cannot be read or written: check the data directory's permissions and its disk."

PIECE = 1 << 20  # bytes read at once


class DirectoryBlobs:
    """The port `Blobs` over one directory, created on the first `put`.

    A file appears whole or not at all: it is written beside its place, synced to disk and renamed before `put` returns.
    Files of `EXPIRING_DAYS` are deleted by a `join` once the last `WITNESSES` were all put after their time, which a
    clock that is ahead for a while does not say. `clock` returns seconds since 1970.
    """

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self._directory, self._clock = directory, clock

    def put(self, folder: str, content: bytes, suffix: str = "") -> str:
        key = key_of(folder, content, suffix)
        path = self._directory / key
        with _reaching():
            if not path.is_file() or path.read_bytes() != content:
                _write(path, [content])
            os.utime(path, (self._clock(), self._clock()))  # the days of `EXPIRING_DAYS` begin now
        return key

    def get(self, key: str) -> bytes:
        if not is_key(key):
            raise missing()
        with _reaching():
            return checked(key, (self._directory / key).read_bytes())

    def exists(self, key: str) -> bool:
        return is_key(key) and (self._directory / key).is_file()

    def join(self, keys: Sequence[str]) -> str:
        digest = sha256()
        for each in keys:
            digest.update(self.get(each))
        whole = key_of_hash(keys[0], digest.hexdigest())
        with _reaching():
            if not self.exists(whole):
                _write(self._directory / whole, map(self.get, keys))
            now, first = self._clock(), whole.partition("/")[0]
            os.utime(self._directory / whole, (now, now))
            files = (self._directory / first).rglob("*") if first in EXPIRING_DAYS else ()
            put = sorted((file.stat().st_mtime, file) for file in files if file.is_file())
            for at, file in put[:-WITNESSES]:
                if at < put[-WITNESSES][0] - EXPIRING_DAYS[first] * 86_400:
                    file.unlink(missing_ok=True)
        return whole

    def stream(self, key: str) -> Iterator[bytes]:
        if not self.exists(key):
            raise missing()
        return self._pieces(key)

    def link(self, key: str, name: str, seconds: int) -> str | None:  # noqa: ARG002  nobody else reaches this disk
        return None

    def delete(self, key: str) -> None:
        if self.exists(key):
            self._remove([self._directory / key])

    def drop(self, folder: str) -> None:
        directory = self._directory / folder_named(folder)
        with _reaching():
            found = [each for each in directory.iterdir() if each.is_file()] if directory.is_dir() else []
        self._remove(found)

    def _remove(self, files: Sequence[Path]) -> None:
        with _reaching():
            for each in files:
                each.unlink(missing_ok=True)
            for directory in {each.parent for each in files}:
                _sync(directory)

    def uri(self, key: str) -> str:
        return (self._directory / key).absolute().as_uri()

    def _pieces(self, key: str) -> Iterator[bytes]:
        with _reaching(), (self._directory / key).open("rb") as file:
            while piece := file.read(PIECE):
                yield piece


@contextmanager
def _reaching() -> Iterator[None]:
    """Raise what the disk refuses as a failure of the store."""
    try:
        yield
    except FileNotFoundError:
        raise missing() from None
    except OSError as error:
        raise refused(error, UNREADABLE, retryable=True) from error


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a scratch file, sync it to disk, and rename it to `path`."""
    make_directory(path.parent)
    handle, scratch = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        Path(scratch).replace(path)
        _sync(path.parent)
    finally:
        Path(scratch).unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    """Bring to disk which files the directory has."""
    opened = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
