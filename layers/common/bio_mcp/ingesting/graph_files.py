"""Files of nodes and edges: JSON lines, rows of Dr. Duke's databases, codes of ICD-10-CM; plain or gzip.

The form is recognised by how a file begins. What is read at once is bounded: a line, or an item of an array or object.
"""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from bio_mcp.errors import InvalidInput
from bio_mcp.graph import duke, icd10cm
from bio_mcp.graph.lines import LINE_BYTES, parse_line
from bio_mcp.graph.nodes import Edge, Node

FILE_BYTES = 2 << 30  # of a file when it is unpacked
READ_BYTES = 1 << 16
UNREADABLE = "The file cannot be read; check that it exists and is a readable file."

Item = tuple[int, Node | Edge | InvalidInput]

_GZIP = b"\x1f\x8b"
_CODE_FIRST = re.compile(rb'\s*\{\s*"' + icd10cm.CODE.pattern.encode() + rb'"\s*:')
_SPACE = re.compile(r"[\s,]*")
_KEY = re.compile(r'"([^"\\]{0,100})"\s*:\s*')


def read_items(path: Path, read: Callable[[int], None] = lambda _bytes: None) -> Iterator[Item]:
    """Yield each node and edge of a file with the number of its line, or why that line is neither.

    `read` gets the bytes of the file consumed so far. Raises `InvalidInput` for a file that cannot be read to its end.
    """
    if not path.is_file():  # a pipe would be waited for, and a device has no end
        raise InvalidInput(UNREADABLE)
    try:
        with path.open("rb") as file:
            for item in _items(_unpacked(file)):
                read(file.tell())
                yield item
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidInput("The archive is damaged or cut short.") from error
    except OSError as error:
        raise InvalidInput(UNREADABLE) from error


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    start = file.read(len(_GZIP))
    file.seek(0)
    return cast("IO[bytes]", gzip.open(file)) if start == _GZIP else file


def _items(file: IO[bytes]) -> Iterator[Item]:
    start = file.read(READ_BYTES).removeprefix(b"\xef\xbb\xbf")
    rest = _Rest(file, start)
    if start.lstrip()[:1] == b"[":
        return _objects(_Text(rest, "["))
    if _CODE_FIRST.match(start):
        return _codes(_Text(rest, "{"))
    return _lines(rest)


class _Rest:
    """A file after its first bytes were looked at. Raises `InvalidInput` beyond `FILE_BYTES`."""

    def __init__(self, file: IO[bytes], start: bytes) -> None:
        self._file, self._start, self._bytes = file, start, len(start)

    def read(self) -> bytes:
        """The next bytes; none at the end."""
        chunk, self._start = self._start or self._file.read(READ_BYTES), b""
        self._bytes += len(chunk)
        if self._bytes > FILE_BYTES:
            raise InvalidInput(f"The file is larger than {FILE_BYTES >> 30} GB when it is unpacked; split it.")
        return chunk


def _lines(rest: _Rest) -> Iterator[Item]:
    number, pending = 0, b""
    while chunk := rest.read():
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            number += 1
            yield from _of_line(number, line)
        if len(pending) > LINE_BYTES:
            raise InvalidInput(f"Line {number + 1} is longer than {LINE_BYTES >> 10} KB; nothing after it was read.")
    yield from _of_line(number + 1, pending)


def _of_line(number: int, line: bytes) -> Iterator[Item]:
    if not line.strip():
        return
    try:
        if len(line) > LINE_BYTES:
            raise InvalidInput(f"it is longer than {LINE_BYTES >> 10} KB")
        yield number, parse_line(line)
    except InvalidInput as failure:
        yield number, failure


class _Text:
    """The items of a JSON array or object, which is read as far as the next one needs."""

    def __init__(self, rest: _Rest, opening: str) -> None:
        self._rest, self._pending, self._text, self._decoder = rest, b"", "", json.JSONDecoder()
        self.line, self._ended = 1, False
        self._skip(re.compile(rf"\s*\{opening}"))

    def at_end(self) -> bool:
        """Whether the array or object is closed here. Raises `InvalidInput` if the file ends before."""
        while not self._skip(_SPACE) and self._more():
            pass
        if not self._text:
            raise self.broken("the file ends in the middle")
        return self._text[0] in "]}"

    def key(self) -> str:
        """The key that comes next."""
        while not (found := _KEY.match(self._text)):
            if len(self._text) > LINE_BYTES or not self._more():
                raise self.broken("a key is expected")
        self._consume(found.end())
        return found[1]

    def value(self) -> Any:
        """The value that comes next."""
        while True:
            self._skip(_SPACE)
            try:
                value, end = self._decoder.raw_decode(self._text)
            except RecursionError:
                raise self.broken("it is nested too deeply") from None
            except ValueError:
                if len(self._text) > LINE_BYTES or not self._more():
                    raise self.broken("it is no JSON, or an item is too long") from None
            else:
                self._consume(end)
                return value

    def broken(self, why: str) -> InvalidInput:
        """The failure for what cannot be read on from here."""
        return InvalidInput(f"Line {self.line}: {why}; nothing after it was read.")

    def _skip(self, what: re.Pattern[str]) -> bool:
        """Skip `what`; whether anything else follows."""
        if not self._text:
            self._more()
        if found := what.match(self._text):
            self._consume(found.end())
        return bool(self._text)

    def _consume(self, end: int) -> None:
        self.line += self._text.count("\n", 0, end)
        self._text = self._text[end:]

    def _more(self) -> bool:
        """Read on; False at the end of the file."""
        chunk = self._rest.read()
        try:
            text = (self._pending + chunk).decode()
            self._pending = b""
        except UnicodeDecodeError as error:
            if error.end < len(self._pending + chunk) or not chunk:
                raise self.broken("it is not UTF-8") from None
            text, self._pending = (
                (self._pending + chunk)[: error.start].decode(),
                (self._pending + chunk)[error.start :],
            )
        self._text += text
        return bool(chunk)


def _objects(text: _Text) -> Iterator[Item]:
    """Yield what the rows of Dr. Duke's databases say."""
    while not text.at_end():
        line, row = text.line, text.value()
        try:
            if not isinstance(row, dict):
                raise InvalidInput("a row is an object with plant_species and chemical")
            yield from ((line, each) for each in duke.records_of(row))
        except InvalidInput as failure:
            yield line, failure


def _codes(text: _Text) -> Iterator[Item]:
    """Yield the indications of codes."""
    while not text.at_end():
        line, code, value = text.line, text.key(), text.value()
        try:
            yield line, icd10cm.indication_of(code, value)
        except InvalidInput as failure:
            yield line, failure
