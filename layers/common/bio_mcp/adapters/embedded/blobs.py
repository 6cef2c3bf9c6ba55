"""Blobs as files in a directory."""

import os
import tempfile
from pathlib import Path

from bio_mcp.adapters.blobkeys import checked, is_key, key_of, missing
from bio_mcp.adapters.embedded.private import make_directory
from bio_mcp.errors import StoreFailed

UNREADABLE = "The stored files cannot be read or written: check the data directory's permissions and its disk."


class DirectoryBlobs:
    """The port `Blobs` over one directory, created on the first `put`.

    A file appears whole or not at all: it is written beside its place, synced to disk and renamed before `put` returns.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, folder: str, content: bytes, suffix: str = "") -> str:
        key = key_of(folder, content, suffix)
        path = self._directory / key
        try:
            if not path.is_file() or path.read_bytes() != content:
                _write(path, content)
        except OSError as error:
            raise StoreFailed(UNREADABLE) from error
        return key

    def get(self, key: str) -> bytes:
        try:
            if not is_key(key):
                raise missing()
            return checked(key, (self._directory / key).read_bytes())
        except FileNotFoundError:
            raise missing() from None
        except OSError as error:
            raise StoreFailed(UNREADABLE) from error

    def exists(self, key: str) -> bool:
        return is_key(key) and (self._directory / key).is_file()

    def uri(self, key: str) -> str:
        return (self._directory / key).absolute().as_uri()


def _write(path: Path, content: bytes) -> None:
    """Write a scratch file, sync it to disk, and rename it to `path`."""
    make_directory(path.parent)
    handle, scratch = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(scratch).replace(path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    finally:
        Path(scratch).unlink(missing_ok=True)
