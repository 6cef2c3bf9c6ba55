"""PubMed XML in a file: plain, gzip or xz, recognised by its first bytes whatever its name."""

import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from isal import igzip, isal_zlib

from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.medline.limits import OddRecord
from bio_mcp.literature.medline.stream import parse_each
from bio_mcp.literature.records import Article, Deletion

UNREADABLE = "The file cannot be read; check that it exists and is a readable file."
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
_ISAL = cast(type[Exception], isal_zlib.error)  # its stub takes the class for an instance
_DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, _ISAL)


def open_records(
    path: Path, read: Callable[[int], None] = lambda _bytes: None
) -> Iterator[Article | Deletion | OddRecord]:
    """Stream the records of one file.

    Decompression streams, too. A truncated archive yields the records that are whole before the cut, then raises, like
    `parse_each`. `read` is called with each record and gets the bytes of the file consumed so far, for a progress bar.
    Raises `InvalidInput` for a file that cannot be read and `NcbiUnreadable` for a damaged archive.
    """
    if not path.is_file():  # a pipe would be waited for, and a device has no end
        raise InvalidInput(UNREADABLE)
    try:
        with path.open("rb") as file:
            for record in parse_each(_decompress(file)):
                read(file.tell())
                yield record
    except _DAMAGED as error:
        raise NcbiUnreadable("The archive is damaged or cut short; download it again.", retryable=False) from error
    except OSError as error:
        raise InvalidInput(UNREADABLE) from error


def _decompress(file: IO[bytes]) -> IO[bytes]:
    """The decompressed stream of a gzip or xz file, recognised by its first bytes; any other file unchanged."""
    magic = file.read(6)
    file.seek(0)
    if magic.startswith(_GZIP):
        return cast(IO[bytes], igzip.open(file))  # type: ignore[no-untyped-call]  # it has no types
    return lzma.open(file) if magic == _XZ else file
