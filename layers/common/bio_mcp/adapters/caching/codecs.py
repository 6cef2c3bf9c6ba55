"""Answers <-> bytes, compressed. Bytes that `dumps` did not make raise `Unreadable`, never become an answer."""

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from bio_mcp.errors import StoreFailed
from bio_mcp.literature import serial
from bio_mcp.literature.jats import FullText
from bio_mcp.literature.records import Article
from bio_mcp.lookup import ArticleIds, MeshPage
from bio_mcp.pubmed import CitationMatch, DocSummary, EntrezDatabase, LinkSet, SearchPage, Spelling

T = TypeVar("T")
SCHEME = 2  # of what is kept and how; a new one finds nothing that an old one has kept


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


def _typed(name: str, kind: type[T], of: Callable[[T], str | None] = lambda _answer: None) -> Codec[T]:
    """Of a dataclass, as JSON; the types of its fields are checked when it is read."""
    adapter = functools.cache(lambda: TypeAdapter(kind))  # made when it is used: it takes some milliseconds
    return Codec(
        name,
        lambda answer: zlib.compress(adapter().dump_json(answer)),
        lambda value: adapter().validate_json(zlib.decompress(value), strict=True),
        of,
    )


RECORD: Codec[Article] = Codec("record", serial.dumps, serial.loads, lambda article: article.pmid)
SUMMARY = _typed("summary", DocSummary, lambda summary: summary.pmid)
LINKS = _typed("links", LinkSet, lambda found: found.pmid)
PAGE = _typed("search", SearchPage)
SPELLING = _typed("spelling", Spelling)
DATABASE = _typed("database", EntrezDatabase)
MESH = _typed("mesh", MeshPage)
MATCH = _typed("match", CitationMatch)
IDS = _typed("ids", ArticleIds)
FULL_TEXT = _typed("article", FullText)
OVERTAKEN: Codec[str] = Codec("overtaken", str.encode, bytes.decode)
TEXT: Codec[str] = Codec(
    "text", lambda text: zlib.compress(text.encode()), lambda value: zlib.decompress(value).decode()
)
