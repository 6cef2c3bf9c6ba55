"""Answers <-> bytes, compressed. Bytes that `dumps` did not make raise `Unreadable`, never become an answer."""

import json
import zlib
from collections.abc import Callable
from dataclasses import Field, dataclass, fields
from typing import Any, Generic, TypeVar, get_origin

from bio_mcp.errors import StoreFailed
from bio_mcp.literature import serial
from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.pubmed import DocSummary, EntrezDatabase, Link, LinkName, LinkSet, SearchField, SearchPage, Spelling

T = TypeVar("T")
SCHEME = 1  # of what is kept and how; a new one finds nothing that an old one has kept


class Unreadable(Exception):
    """Kept bytes that are damaged, or of another form."""


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """`name` tells kinds of answers apart in keys; `of` names what an answer is about, where the answer says it."""

    name: str
    dumps: Callable[[T], bytes]
    loads: Callable[[bytes], T]
    of: Callable[[T], str | None] = lambda _answer: None

    def read(self, value: bytes, wanted: str) -> T:
        """The answer about `wanted`. Raises `Unreadable`."""
        try:
            answer = self.loads(value)
        except (StoreFailed, zlib.error, ValueError, TypeError, IndexError) as error:
            raise Unreadable from error
        if self.of(answer) not in (None, wanted):
            raise Unreadable
        return answer


def _packed(row: Any) -> bytes:
    return zlib.compress(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode())


def _unpacked(value: bytes) -> Any:
    return json.loads(zlib.decompress(value))


def _row(record: Any) -> list[Any]:
    return [getattr(record, field.name) for field in fields(record)]


def _flat(kind: Callable[..., T], row: list[Any]) -> T:
    """A record of a whole row, whose lists are tuples. Raises `Unreadable` for a row that another kind would have."""
    columns = fields(kind)  # type: ignore[arg-type]  # every kind here is a dataclass
    values = [tuple(value) if isinstance(value, list) else value for value in row]
    if len(values) != len(columns) or not all(map(_fits, values, columns)):
        raise Unreadable
    return kind(*values)


def _fits(value: Any, column: Field[Any]) -> bool:
    kind: Any = column.type
    return isinstance(value, tuple if get_origin(kind) is tuple else kind)


def _summary(value: bytes) -> DocSummary:
    *row, standing = _unpacked(value)
    return _flat(DocSummary, [*row, RetractionStatus(standing)])


def _links(value: bytes) -> LinkSet:
    pmid, links = _unpacked(value)
    return LinkSet(pmid, tuple([_flat(Link, each) for each in links]))


def _database(value: bytes) -> EntrezDatabase:
    *row, search_fields, links = _unpacked(value)
    of_fields = [_flat(SearchField, each) for each in search_fields]
    return _flat(EntrezDatabase, [*row, of_fields, [_flat(LinkName, each) for each in links]])


def _pack_database(database: EntrezDatabase) -> bytes:
    *row, search_fields, links = _row(database)
    return _packed([*row, [_row(each) for each in search_fields], [_row(each) for each in links]])


RECORD: Codec[Article] = Codec("record", serial.dumps, serial.loads, lambda article: article.pmid)
SUMMARY: Codec[DocSummary] = Codec(
    "summary", lambda summary: _packed(_row(summary)), _summary, lambda summary: summary.pmid
)
LINKS: Codec[LinkSet] = Codec(
    "links",
    lambda found: _packed([found.pmid, [(link.uid, link.score) for link in found.links]]),
    _links,
    lambda found: found.pmid,
)
PAGE: Codec[SearchPage] = Codec(
    "search", lambda page: _packed(_row(page)), lambda value: _flat(SearchPage, _unpacked(value))
)
SPELLING: Codec[Spelling] = Codec(
    "spelling", lambda found: _packed(_row(found)), lambda value: _flat(Spelling, _unpacked(value))
)
DATABASE: Codec[EntrezDatabase] = Codec("database", _pack_database, _database)
OVERTAKEN: Codec[str] = Codec("overtaken", str.encode, bytes.decode)
TEXT: Codec[str] = Codec(
    "text", lambda text: zlib.compress(text.encode()), lambda value: zlib.decompress(value).decode()
)
