"""Parts of a checked batch: parsed alone, and remembered where they recur."""

import re
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from lxml import etree

from bio_mcp.literature.medline.prolog import sealed_builder

LONGEST = 500  # characters that are remembered, so that no file fills the memory with them
_MOST_TAGS = 500  # more might nest deeper in their batch than libxml2 allows
_NEVER_ALONE = (b"<PubmedArticle", b"xml:")  # records are counted, and ids compared, in the whole batch

Value = TypeVar("Value")


class Irregular(Exception):
    """A section, or a batch, is not of the usual shape."""


class _Parsers(threading.local):
    def __init__(self) -> None:
        self.builder = sealed_builder()


class Remembered(dict[str, Value]):
    """What `read` made of each short piece, until there are `most`; then it begins anew."""

    def __init__(self, read: Callable[[str], Value], most: int = 4096, longest: int = LONGEST) -> None:
        super().__init__()
        self._read, self._most, self._longest = read, most, longest

    def __missing__(self, piece: str) -> Value:
        value = self._read(piece)
        if len(piece) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[piece] = value
        return value


_PARSERS = _Parsers()


def fragment(xml: bytes) -> etree._Element:
    """Parse one element. Raises `Irregular` if that is more or less than one, or if it says something about others."""
    builder = _PARSERS.builder
    if xml.count(b"<") > _MOST_TAGS or any([mark in xml for mark in _NEVER_ALONE]):
        raise Irregular
    try:
        element = etree.fromstring(xml, builder)
    except etree.XMLSyntaxError as error:
        raise Irregular from error
    if len(builder.error_log):
        raise Irregular
    return element


def content(read: Callable[[etree._Element], Value]) -> Callable[[str], Value]:
    """Make a reader of an element's content from a reader of an element whose attributes do not count."""
    return lambda inner: read(fragment(f"<x>{inner}</x>".encode()))


def usually(usual: Callable[[str], Value], read: Callable[[str], Value]) -> Callable[[str], Value]:
    """Make a reader that reads what is irregular for `usual` by `read`."""

    def either(piece: str) -> Value:
        try:
            return usual(piece)
        except Irregular:
            return read(piece)

    return either


def listed(mark: str, read: Callable[[str], Value], most: int = 4096) -> Callable[[str], list[Value]]:
    """Make a reader of a list whose elements recur, and open with `mark`; `read` reads what follows the mark."""
    remembered = Remembered(read, most)

    def values(inner: str) -> list[Value]:
        first, *pieces = inner.split(mark)
        if "<" in first:
            raise Irregular
        return list(map(remembered.__getitem__, pieces))

    return values


def opened(mark: str, read: Callable[[etree._Element], Value]) -> Callable[[str], Value]:
    """Make a reader of what follows `mark`, which opens an element, from a reader of that element."""
    return lambda piece: read(fragment((mark + piece).encode()))


def cut(usual: re.Pattern[str], inner: str) -> list[list[Any]]:
    """What stands between the elements of the usual shape; then, for each group of `usual`, its texts in them."""
    pieces = usual.split(inner)
    width = 1 + usual.groups
    return [pieces[column::width] for column in range(width)]


def in_order(elements: list[Value], between: list[str], uncommon: Callable[[str], Iterable[Value]]) -> list[Value]:
    """The elements with those that `uncommon` finds in what stands before, between and after them."""
    if "<" in "".join(between):
        for at in reversed([at for at, text in enumerate(between) if "<" in text]):
            elements[at:at] = uncommon(between[at])
    return elements
