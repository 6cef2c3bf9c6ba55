"""Records cut at the tags of their sections."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from lxml import etree

from bio_mcp.literature.medline import citations
from bio_mcp.literature.medline.limits import OddRecord
from bio_mcp.literature.medline.markup import Attributes
from bio_mcp.literature.medline.regular.characters import check_characters, without_instructions
from bio_mcp.literature.medline.regular.fields import OF_ARTICLE, OF_CITATION, OF_PUBMED_DATA, FieldReader
from bio_mcp.literature.medline.regular.fragments import LONGEST, Irregular, fragment
from bio_mcp.literature.records import Article

_RECORD = b"<PubmedArticle>"
_NAME = re.compile(rb"[A-Za-z]+")
_MOST_TAGS = 4096


class Section(NamedTuple):
    """What is read after an opening tag: its content up to `end`; where that is irregular, its element."""

    end: bytes
    size: int  # of `end`
    read: FieldReader
    attributes: Attributes
    read_element: citations.Reader
    level: Level  # after it


class Level(dict[bytes, Section]):
    """The sections of one element, by their opening tags as they are written, attributes included."""

    def __init__(
        self,
        name: str,
        around: Level | None = None,
        readers: citations.Readers | None = None,
        regular: Mapping[str, FieldReader] | None = None,
        attribute: tuple[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._closing, self._around, self._attribute = b"/" + name.encode(), around, attribute
        self._readers, self._regular = readers or {}, regular or {}
        self._levels: dict[str, Level] = {}
        if around is not None:
            around._levels[name] = self

    def __missing__(self, tag: bytes) -> Section:
        if len(tag) > LONGEST:
            raise Irregular
        found = self._closed() if tag == self._closing else self._section(tag)
        if len(self) >= _MOST_TAGS:
            self.clear()
        self[tag] = found
        return found

    def _closed(self) -> Section:
        if self._around is None:
            raise Irregular
        return Section(b">", 1, _skip, {}, _skip_element, self._around)

    def _section(self, tag: bytes) -> Section:
        empty = tag.endswith(b"/")
        element = fragment(b"<" + tag + (b">" if empty else b"/>"))
        name, written = element.tag, _NAME.match(tag)
        if not written or name != written[0].decode():
            raise Irregular
        attributes = {str(key): str(value) for key, value in element.attrib.items()}
        if name in self._levels and not empty:
            return Section(b">", 1, self._levels[name]._enter, attributes, _skip_element, self._levels[name])
        end = b">" if empty else b"</" + written[0] + b">"
        reader = self._readers.get(name)
        regular = self._regular.get(name) or (_refuse if reader else _skip)
        return Section(end, len(end), regular, attributes, reader or _skip_element, self)

    def _enter(self, record: Article, attributes: Attributes, _: bytes) -> None:
        """Set the field that an attribute of this element holds."""
        if self._attribute:
            name, field = self._attribute
            setattr(record, field, attributes.get(name))


def articles(batch: bytes) -> tuple[list[Article], int]:
    """Read all records of a batch, and count its line breaks. Raises `Irregular` if that needs a tree."""
    lines = check_characters(batch)
    batch = without_instructions(batch)
    records = []
    at = batch.find(b"<")
    while at >= 0:
        if not batch.startswith(_RECORD, at):
            raise Irregular
        record = Article("")
        try:
            at = _read(record, batch, at + len(_RECORD))
            records.append(citations.finish_record(record))
        except OddRecord as odd:
            raise Irregular from odd
    return records, lines


def _read(record: Article, batch: bytes, at: int) -> int:
    """Read the sections from `at` to the end of the record. Return where the next tag is, -1 for none."""
    level, outside, find = _IN_RECORD, _OUTSIDE, batch.find
    at = find(b"<", at)
    while level is not outside:
        close = find(b">", at)
        end, size, read, attributes, read_element, level = level[batch[at + 1 : close]]
        stop = find(end, close)
        if stop < 0:
            raise Irregular
        try:
            read(record, attributes, batch[close + 1 : stop])
        except Irregular:
            read_element(record, fragment(batch[at : stop + size]))
        at = find(b"<", stop + size)
    return at


def _refuse(_record: Article, _attributes: Attributes, _inner: bytes) -> None:
    raise Irregular


def _skip(_record: Article, _attributes: Attributes, inner: bytes) -> None:
    """Skip a section that nothing reads. One with elements is parsed, to be sure of its end."""
    if b"<" in inner:
        raise Irregular


def _skip_element(_record: Article, _element: etree._Element) -> None:
    """Skip a section that nothing reads."""


_OUTSIDE = Level("")
_IN_RECORD = Level("PubmedArticle", _OUTSIDE, citations.RECORD)
_IN_CITATION = Level("MedlineCitation", _IN_RECORD, citations.CITATION, OF_CITATION, ("Status", "status"))
_IN_ARTICLE = Level("Article", _IN_CITATION, citations.ARTICLE, OF_ARTICLE, ("PubModel", "publication_model"))
_IN_PUBMED_DATA = Level("PubmedData", _IN_RECORD, citations.PUBMED_DATA, OF_PUBMED_DATA)
