"""Records cut at the tags of their sections."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from lxml import etree

from bio_mcp.literature.medline import citations
from bio_mcp.literature.medline.limits import OddRecord
from bio_mcp.literature.medline.markup import Attributes
from bio_mcp.literature.medline.regular.characters import checked
from bio_mcp.literature.medline.regular.fields import OF_ARTICLE, OF_CITATION, OF_PUBMED_DATA, FieldReader
from bio_mcp.literature.medline.regular.fragments import LONGEST, Irregular, fragment
from bio_mcp.literature.records import Article

_NAME = re.compile("[A-Za-z]+")
_MOST_TAGS = 4096
_MOST_KNOWN = 8


class Entered(NamedTuple):
    """The level after a tag that opens or closes one, and the field that the tag sets."""

    level: Level
    fields: tuple[tuple[str, str | None], ...] = ()


class Next(NamedTuple):
    """What follows the content of a section."""

    between: bytes  # up to the content of the next section
    size: int  # of `between`
    fields: tuple[tuple[str, str | None], ...]  # set by tags in it
    section: Section | None  # None at the end of the record


class Section:
    """What is read from an opening tag to `end`: its content; where that is irregular, its element."""

    __slots__ = ("_known", "attributes", "end", "level", "next", "read", "read_element", "tag")

    def __init__(
        self,
        tag: bytes,
        end: bytes,
        level: Level,
        attributes: Attributes,
        read: FieldReader,
        read_element: citations.Reader,
    ) -> None:
        self.tag, self.end, self.level, self.attributes = tag, end, level, attributes
        self.read, self.read_element = read, read_element
        self.forget()

    def forget(self) -> None:
        """Forget what followed."""
        self.next: Next = _UNKNOWN
        self._known: list[Next] = []

    def find_next(self, batch: bytes, at: int) -> Next:
        """Find what follows the content, which ends at `at`. Mostly that is what followed one of the last times."""
        for known in self._known:
            if batch.startswith(known.between, at):
                self.next = known
                return known
        return self._walk(batch, at)

    def _walk(self, batch: bytes, at: int) -> Next:
        if not batch.startswith(self.end, at):
            raise Irregular
        level, close = self.level, at + len(self.end)
        section = None
        fields: tuple[tuple[str, str | None], ...] = ()
        while section is None and level is not _OUTSIDE:
            opening = batch.find(b"<", close)
            close = batch.find(b">", opening) + 1
            if not 0 <= opening < close or not batch[at:close].isascii():
                raise Irregular
            found = level[batch[opening + 1 : close - 1].decode()]
            if isinstance(found, Section):
                section = found
            else:
                level, fields = found.level, fields + found.fields
        following = Next(batch[at:close], close - at, fields, section)
        if following.size <= LONGEST:
            self.next, self._known = following, [following, *self._known[: _MOST_KNOWN - 1]]
        return following


class Level(dict[str, Section | Entered]):
    """The tags of one element, as they are written, attributes included."""

    def __init__(
        self,
        name: str,
        around: Level | None = None,
        readers: citations.Readers | None = None,
        regular: Mapping[str, FieldReader] | None = None,
        attribute: tuple[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._closing, self._around, self._attribute = "/" + name, around, attribute
        self._readers, self._regular = readers or {}, regular or {}
        self._levels: dict[str, Level] = {}
        if around is not None:
            around._levels[name] = self

    def __missing__(self, tag: str) -> Section | Entered:
        if len(tag) > LONGEST:
            raise Irregular
        found = Entered(self._around) if tag == self._closing and self._around is not None else self._opened(tag)
        if len(self) >= _MOST_TAGS:
            self._forget()
        self[tag] = found
        return found

    def _opened(self, tag: str) -> Section | Entered:
        empty = tag.endswith("/")
        element = fragment((f"<{tag}>" if empty else f"<{tag}/>").encode())
        name, written = element.tag, _NAME.match(tag)
        if not written or name != written[0]:
            raise Irregular
        attributes = {str(key): str(value) for key, value in element.attrib.items()}
        if name in self._levels and not empty:
            return self._levels[name]._entered(attributes)
        reader = self._readers.get(name)
        regular = self._regular.get(name) or (_refuse if reader else _skip)
        end = "" if empty else f"</{name}>"
        return Section(f"<{tag}>".encode(), end.encode(), self, attributes, regular, reader or _skip_element)

    def _entered(self, attributes: Attributes) -> Entered:
        """This level, with the field that an attribute of its element holds."""
        if not self._attribute:
            return Entered(self)
        name, field = self._attribute
        return Entered(self, ((field, attributes.get(name)),))

    def _forget(self) -> None:
        for each in self.values():
            if isinstance(each, Section):
                each.forget()
        self.clear()


def articles(batch: bytes) -> tuple[list[Article], int]:
    """Read all records of a batch, and count its line breaks. Raises `Irregular` if that needs a tree."""
    batch, lines = checked(batch)
    records = []
    end = 0
    try:
        while (at := batch.find(b"<", end)) >= 0:
            batch[end:at].decode()
            record = Article("")
            end = _read(record, batch, at)
            records.append(citations.finish_record(record))
        batch[end:].decode()
    except (OddRecord, UnicodeDecodeError) as error:
        raise Irregular from error
    return records, lines


def _read(record: Article, batch: bytes, at: int) -> int:
    """Read the sections of the record that opens at `at`. Return where it ends.

    Every byte is in a section, and decoded, or between two, and ASCII. Raises `UnicodeDecodeError`, too.
    """
    section, stop = _OPENING, at
    while True:
        between, size, fields, following = section.next
        if not batch.startswith(between, stop):
            between, size, fields, following = section.find_next(batch, stop)
        for name, value in fields:
            setattr(record, name, value)
        at = stop + size
        if following is None:
            return at
        section = following
        stop = batch.find(section.end, at)
        if stop < 0:
            raise Irregular
        try:
            section.read(record, section.attributes, batch[at:stop].decode())
        except Irregular:
            section.read_element(record, fragment(section.tag + batch[at:stop] + section.end))


def _refuse(_record: Article, _attributes: Attributes, _inner: str) -> None:
    raise Irregular


def _skip(_record: Article, _attributes: Attributes, inner: str) -> None:
    """Skip a section that nothing reads. One with elements is parsed, to be sure of its end."""
    if "<" in inner:
        raise Irregular


def _skip_element(_record: Article, _element: etree._Element) -> None:
    """Skip a section that nothing reads."""


_UNKNOWN = Next(b"\0", 0, (), None)  # no checked batch has NUL
_OUTSIDE = Level("")
_IN_RECORD = Level("PubmedArticle", _OUTSIDE, citations.RECORD)
_IN_CITATION = Level("MedlineCitation", _IN_RECORD, citations.CITATION, OF_CITATION, ("Status", "status"))
_IN_ARTICLE = Level("Article", _IN_CITATION, citations.ARTICLE, OF_ARTICLE, ("PubModel", "publication_model"))
_IN_PUBMED_DATA = Level("PubmedData", _IN_RECORD, citations.PUBMED_DATA, OF_PUBMED_DATA)
_OPENING = Section(b"", b"<PubmedArticle>", _IN_RECORD, {}, _skip, _skip_element)
