"""Parts of a checked batch: parsed alone, and remembered where they recur."""

import threading
from collections.abc import Callable
from typing import TypeVar

from lxml import etree

from bio_mcp.literature.medline.prolog import sealed_builder

LONGEST = 500  # bytes that are remembered, so that no file fills the memory with them
_MOST_TAGS = 500  # more might nest deeper in their batch than libxml2 allows
_NEVER_ALONE = (b"<PubmedArticle", b"xml:")  # records are counted, and ids compared, in the whole batch

Piece = TypeVar("Piece", bound=bytes | str)
Value = TypeVar("Value")


class Irregular(Exception):
    """A section, or a batch, is not of the usual shape."""


class _Parsers(threading.local):
    def __init__(self) -> None:
        self.builder = sealed_builder()


class Remembered(dict[Piece, Value]):
    """What `read` made of each short piece, until there are `most`; then it begins anew."""

    def __init__(self, read: Callable[[Piece], Value], most: int = 4096) -> None:
        super().__init__()
        self._read, self._most = read, most

    def __missing__(self, piece: Piece) -> Value:
        value = self._read(piece)
        if len(piece) <= LONGEST:
            if len(self) >= self._most:
                self.clear()
            self[piece] = value
        return value


_PARSERS = _Parsers()


def fragment(xml: bytes) -> etree._Element:
    """Parse one element. Raises `Irregular` if that is more or less than one, or if it says something about others."""
    builder = _PARSERS.builder
    if xml.count(b"<") > _MOST_TAGS or any(mark in xml for mark in _NEVER_ALONE):
        raise Irregular
    try:
        element = etree.fromstring(xml, builder)
    except etree.XMLSyntaxError as error:
        raise Irregular from error
    if len(builder.error_log):
        raise Irregular
    return element


def content(read: Callable[[etree._Element], Value]) -> Callable[[bytes], Value]:
    """Make a reader of an element's content from a reader of an element whose attributes do not count."""
    return lambda inner: read(fragment(b"<x>" + inner + b"</x>"))


def usually(usual: Callable[[bytes], Value], read: Callable[[bytes], Value]) -> Callable[[bytes], Value]:
    """Make a reader that reads what is irregular for `usual` by `read`."""

    def either(piece: bytes) -> Value:
        try:
            return usual(piece)
        except Irregular:
            return read(piece)

    return either


def listed(mark: bytes, read: Callable[[bytes], Value], most: int = 4096) -> Callable[[bytes], list[Value]]:
    """Make a reader of a list whose elements recur, and open with `mark`; `read` reads what follows the mark."""
    remembered = Remembered(read, most)

    def values(inner: bytes) -> list[Value]:
        first, *pieces = inner.split(mark)
        if b"<" in first:
            raise Irregular
        return [remembered[piece] for piece in pieces]

    return values


def opened(mark: bytes, read: Callable[[etree._Element], Value]) -> Callable[[bytes], Value]:
    """Make a reader of what follows `mark`, which opens an element, from a reader of that element."""
    return lambda piece: read(fragment(mark + piece))
