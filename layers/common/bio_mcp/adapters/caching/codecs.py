"""Encodes answers as compressed bytes. Bytes that `dumps` did not make raise `Unreadable`; they never become an
answer."""

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from bio_mcp.errors import StoreFailed
from bio_mcp.literature import serial
from bio_mcp.literature.jats import FullText
from bio_mcp.literature.records import Article
from bio_mcp.ports.europe_pmc import EuropePmcPage, EuropePmcRecord
from bio_mcp.ports.metrics import Metrics
from bio_mcp.ports.ncbi import ArticleIds, CitationMatch, MeshPage
from bio_mcp.ports.notices import RegisteredWork
from bio_mcp.ports.open_access import Copies
from bio_mcp.ports.pubmed import DocSummary, EntrezDatabase, LinkSet, SearchPage, Spelling

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
SCHEME = 3  # version of the encodings; answers stored under another one are not found


class Unreadable(Exception):
    """Cached bytes that are damaged or of another form."""


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How one kind of answer is encoded. `name` is the kind in cache keys; `of` returns the id that an answer is
    about, if it says so."""

    name: str
    dumps: Callable[[T], bytes]
    loads: Callable[[bytes], T]
    of: Callable[[T], str | None] = lambda _answer: None

    def read(self, value: bytes, wanted: str) -> T:
        """The answer about the id `wanted`. Raises `Unreadable`."""
        try:
            answer = self.loads(value)
        except (StoreFailed, zlib.error, ValueError, TypeError, IndexError) as error:
            raise Unreadable from error
        if self.of(answer) not in (None, wanted):
            raise Unreadable
        return answer


def _typed(name: str, kind: type[T], of: Callable[[T], str | None] = lambda _answer: None) -> Codec[T]:
    """The codec of a dataclass, as JSON; reading checks the types of its fields."""

    @functools.cache
    def adapter() -> "TypeAdapter[T]":
        from pydantic import TypeAdapter  # on first use: an import that meets a retraction needs none

        return TypeAdapter(kind)

    return Codec(
        name,
        lambda answer: zlib.compress(adapter().dump_json(answer)),
        lambda value: adapter().validate_json(zlib.decompress(value), strict=True),
        of,
    )


RECORD: Codec[Article] = Codec("record", serial.dumps, serial.loads, lambda article: article.pmid)
SUMMARY = _typed("summary", DocSummary, lambda summary: summary.pmid)
LINKS = _typed("links", LinkSet, lambda linkset: linkset.pmid)
PAGE = _typed("search", SearchPage)
SPELLING = _typed("spelling", Spelling)
DATABASE = _typed("database", EntrezDatabase)
MESH = _typed("mesh", MeshPage)
MATCH = _typed("match", CitationMatch)
IDS = _typed("ids", ArticleIds)
FULL_TEXT = _typed("article", FullText)
EUROPE_PMC = _typed("europepmc", EuropePmcRecord)
EUROPE_PMC_PAGE = _typed("europepmcpage", EuropePmcPage)
COPIES = _typed("copies", Copies)
METRICS = _typed("metrics", Metrics, lambda metrics: metrics.pmid)
WORK = _typed("work", RegisteredWork, lambda work: work.doi)
INVALIDATED: Codec[str] = Codec("overtaken", str.encode, bytes.decode)
TEXT: Codec[str] = Codec(
    "text", lambda text: zlib.compress(text.encode()), lambda value: zlib.decompress(value).decode()
)
