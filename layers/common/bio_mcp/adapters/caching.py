"""Ports to services behind a cache; "not found" is never stored, nor is a failure."""

import functools
import hashlib
import json
import logging
import re
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import astuple, dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar
from uuid import uuid4

from bio_mcp.adapters.entrez.utilities import checked
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure, StoreFailed
from bio_mcp.literature import identifiers, serial
from bio_mcp.literature.documents import FullText
from bio_mcp.literature.medline import newest
from bio_mcp.literature.records import Article, ChangeKind, CorpusChange, Deletion, RetractionStatus
from bio_mcp.ports import PortOver
from bio_mcp.ports.messages import Announcements
from bio_mcp.ports.ncbi import (
    SIMILAR,
    ArticleIds,
    Citation,
    CitationMatch,
    DocSummary,
    EntrezDatabase,
    LinkSet,
    MeshPage,
    NcbiLookup,
    Pubmed,
    SearchPage,
    Spelling,
    Summaries,
)
from bio_mcp.ports.scholarly import (
    CitationMetrics,
    Copies,
    EuropePmc,
    EuropePmcPage,
    EuropePmcRecord,
    Metrics,
    Notices,
    OpenAccess,
    RegisteredWork,
)
from bio_mcp.ports.stores import Cache, CacheEntry
from bio_mcp.scope import count_lookups

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
POLL_S = 0.25  # between two looks at a deadline, which may be cut short while we wait


class SingleFlight:
    """The calls in flight in this process, by key. Threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_flight: dict[str, Future[Any]] = {}

    def do(self, key: str, fetch: Callable[[], T], deadline: Deadline) -> T:
        """The answer of the call in flight for `key`, else of `fetch`. If the call in flight fails, we fetch ourselves.

        Raises `DeadlineExceeded` if the deadline passes while the other call is in flight.
        """
        with self._lock:
            call = self._in_flight.get(key)
            if leads := call is None:
                call = self._in_flight[key] = Future()
        if leads:
            try:
                call.set_result(fetch())
            finally:
                call.cancel()  # does nothing to one that has its answer
                with self._lock:
                    del self._in_flight[key]
        while True:
            try:
                answer: T = call.result(min(POLL_S, deadline.remaining))
            except TimeoutError:
                deadline.check("NCBI had answered somebody who asked the same")
            except CancelledError:  # it failed
                return fetch()
            else:
                return answer


SCHEME = 3  # version of the encodings; answers stored under another one are not found


class Unreadable(Exception):
    """Cached bytes that are damaged or of another form."""


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How one kind of answer is stored. `name` is the kind in cache keys; `of` returns the id that an answer is about,
    if it says so; only an answer that is `complete` is stored."""

    name: str
    dumps: Callable[[T], bytes]
    loads: Callable[[bytes], T]
    of: Callable[[T], str | None] = lambda _answer: None
    complete: Callable[[T], bool] = lambda _answer: True

    def read(self, value: bytes, wanted: str) -> T:
        """The answer about the id `wanted`. Raises `Unreadable`."""
        try:
            answer = self.loads(value)
        except (StoreFailed, zlib.error, ValueError, TypeError, IndexError) as error:
            raise Unreadable from error
        if self.of(answer) not in (None, wanted):
            raise Unreadable
        return answer


def _typed(name: str, kind: type[T], **more: Callable[[T], Any]) -> Codec[T]:
    """The codec of a dataclass, as JSON; reading checks the types of its fields."""

    @functools.cache
    def adapter() -> "TypeAdapter[T]":
        from pydantic import TypeAdapter  # on first use: an import that meets a retraction needs none

        return TypeAdapter(kind)

    return Codec(
        name,
        lambda answer: zlib.compress(adapter().dump_json(answer)),
        lambda value: adapter().validate_json(zlib.decompress(value), strict=True),
        **more,
    )


RECORD: Codec[Article] = Codec("record", serial.dumps, serial.loads, lambda article: article.pmid)
SUMMARY = _typed("summary", DocSummary, of=lambda summary: summary.pmid)
LINKS = _typed("links", LinkSet, of=lambda linkset: linkset.pmid, complete=lambda linkset: bool(linkset.links))
PAGE = _typed("search", SearchPage, complete=lambda page: bool(page.ids))
SPELLING = _typed("spelling", Spelling, complete=lambda spelling: spelling.corrected is not None)
DATABASE = _typed("database", EntrezDatabase)
MESH = _typed("mesh", MeshPage, complete=lambda page: bool(page.records))
MATCH = _typed("match", CitationMatch, complete=lambda match: bool(match.pmid))
IDS = _typed("ids", ArticleIds)
FULL_TEXT = _typed("article", FullText, complete=lambda article: not article.withheld)
EUROPE_PMC = _typed("europepmc", EuropePmcRecord)
EUROPE_PMC_PAGE = _typed("europepmcpage", EuropePmcPage, complete=lambda page: bool(page.records))
COPIES = _typed("copies", Copies, complete=lambda found: bool(found.copies))
METRICS = _typed("metrics", Metrics, of=lambda metrics: metrics.pmid)
WORK = _typed("work", RegisteredWork, of=lambda work: work.doi)
INVALIDATED: Codec[str] = Codec("overtaken", str.encode, bytes.decode)
TEXT: Codec[str] = Codec(
    "text", lambda text: zlib.compress(text.encode()), lambda value: zlib.decompress(value).decode()
)

log = logging.getLogger(__name__)
A = TypeVar("A")
B = TypeVar("B")
SINGLE = "one"  # the id of an answer that is one piece


def key_of(source: str, kind: str, *params: Any) -> str:
    """The cache key of an answer: a hash, so that it reveals neither the question, a secret nor the caller.

    `source` is the base URL of the server; `params` is everything that the answer depends on, as JSON values.
    """
    text = json.dumps([source, *params], ensure_ascii=False, separators=(",", ":"))
    return f"{SCHEME}.{kind}.{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


@dataclass(frozen=True, slots=True)
class CacheQuery(Generic[T]):
    """Pieces of one kind, by id. `params` is what they depend on beside their id.

    `lifetime_s` is how long a piece is stored, in seconds; 0 bypasses the cache.
    """

    codec: Codec[T]
    ids: Sequence[str]
    lifetime_s: float
    params: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Gathered(Generic[T, A]):
    """The pieces found in the cache, by id, and the fetched answer about the others; None if nothing was fetched."""

    cached: dict[str, T]
    fresh: A | None
    hits: int = 0
    misses: int = 0
    oldest_s: float = 0.0


def _decoded(codec: Codec[T], keys: Mapping[str, str], entries: Mapping[str, CacheEntry]) -> Iterable[tuple[str, T]]:
    for id_, key in keys.items():
        if key in entries:
            try:
                yield id_, codec.read(entries[key].value, id_)
            except Unreadable:
                log.warning("a cached %s cannot be read and is fetched again", codec.name)


COOL_DOWN_S = 30.0  # without a try after a failure, so that a store that hangs costs little time


class FailOpenCache:
    """The port `Cache` over `cache` that never raises: it is empty while `cache` fails, and logs why.

    After a failure `cache` is not used for `COOL_DOWN_S`. `clock` is in seconds and defaults to the time of day, as the
    monotonic clock of a frozen Lambda environment stands still.
    """

    def __init__(self, cache: Cache, clock: Callable[[], float] = time.time) -> None:
        self._cache, self._clock = cache, clock
        self._failed_at = float("-inf")

    def get(self, keys: Sequence[str]) -> dict[str, CacheEntry]:
        return self._used(lambda: self._cache.get(keys)) or {}

    def put(self, values: Mapping[str, bytes], lifetime_s: float) -> None:
        self._used(lambda: self._cache.put(values, lifetime_s))

    def _used(self, use: Callable[[], T]) -> T | None:
        if 0 <= self._clock() - self._failed_at < COOL_DOWN_S:
            return None
        try:
            return use()
        except StoreFailed as failure:
            self._failed_at = self._clock()
            log.warning("the cache failed and is not used for %d s: %s", COOL_DOWN_S, failure)
        return None


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long each kind of answer is cached, in seconds; 0: never."""

    record_s: float  # records, their texts and summaries
    search_s: float  # searches and spellings
    link_s: float  # links, ids, figures
    info_s: float


class _Cached(PortOver, Generic[A]):
    """Answers of a service behind a cache. `source` is the service's base URL. Threads may share it.

    Only complete answers are stored: no failure, and never that the service does not have something, as it may have it
    next time. What has no form here is asked each time.
    """

    _over: A

    def __init__(self, asked: A, cache: Cache, lifetimes: Lifetimes, source: str) -> None:
        super().__init__(asked)
        self._lifetimes = lifetimes
        self._cache, self._source = FailOpenCache(cache), source
        self._singleflight = SingleFlight()

    def _gathered(
        self,
        query: CacheQuery[T],
        fetch: Callable[[list[str]], B],
        pieces: Callable[[B], Mapping[str, T]],
        deadline: Deadline,
    ) -> Gathered[T, B]:
        """Read the pieces from the cache and `fetch` the missing ids with one call.

        `pieces` are those of a fetched answer, by id. Concurrent equal queries share one fetch.
        """
        if query.lifetime_s <= 0 or not query.ids:
            return Gathered({}, fetch(list(query.ids)))
        key = key_of(self._source, query.codec.name, *query.params, list(query.ids))
        try:
            gathered = self._singleflight.do(key, lambda: self._gather(query, fetch, pieces), deadline)
        except Failure:
            count_lookups(0, len(query.ids), 0.0)
            raise
        count_lookups(gathered.hits, gathered.misses, gathered.oldest_s)
        return gathered

    def _gather(
        self, query: CacheQuery[T], fetch: Callable[[list[str]], B], pieces: Callable[[B], Mapping[str, T]]
    ) -> Gathered[T, B]:
        keys, codec = self._keys(query), query.codec
        entries = self._cache.get(list(keys.values()))
        cached = dict(_decoded(codec, keys, entries))
        missing = [id_ for id_ in query.ids if id_ not in cached]
        answer = fetch(missing) if missing else None
        found = {} if answer is None else pieces(answer)
        fresh = {id_: piece for id_, piece in found.items() if id_ in keys and codec.complete(piece)}
        if fresh:
            self._cache.put({keys[id_]: codec.dumps(piece) for id_, piece in fresh.items()}, query.lifetime_s)
        ages = [entries[keys[id_]].age_s for id_ in cached if id_ not in fresh]
        return Gathered(cached, answer, len(ages), len(keys) - len(ages), max(ages, default=0.0))

    def _keys(self, query: CacheQuery[T]) -> dict[str, str]:
        return {id_: key_of(self._source, query.codec.name, *query.params, id_) for id_ in query.ids}

    def _many(
        self,
        codec: Codec[T],
        lifetime_s: float,
        ask: Callable[..., Mapping[str, T]],
        ids: Sequence[str],
        *params: Any,
        deadline: Deadline,
    ) -> dict[str, T]:
        """What is known of each id, in their order and once; `ask` is asked for those that are not cached."""
        query = CacheQuery(codec, list(dict.fromkeys(ids)), lifetime_s, params)
        gathered = self._gathered(
            query, lambda missing: ask(missing, *params, deadline=deadline), lambda found: found, deadline
        )
        found = {**gathered.cached, **(gathered.fresh or {})}
        return {each: found[each] for each in query.ids if each in found}

    def _one(
        self,
        codec: Codec[T],
        lifetime_s: float,
        ask: Callable[..., T],
        *params: Any,
        deadline: Deadline,
        depends_on: tuple[Any, ...] = (),
        **options: Any,
    ) -> T:
        """The answer of `ask` to `params` and `options`, which is one piece; it `depends_on` more than these."""

        def fetch(_missing: list[str], *_: Any, deadline: Deadline) -> dict[str, T]:
            return {SINGLE: ask(*params, **options, deadline=deadline)}

        params_of_key = (*params, sorted(options.items()), *depends_on)
        return self._many(codec, lifetime_s, fetch, [SINGLE], *params_of_key, deadline=deadline)[SINGLE]


class Stored:
    """A method whose answers are stored for a time of `Lifetimes`: one piece for each of the ids that it takes first,
    `by_id`, or one for all that it takes."""

    def __init__(self, codec: Codec[Any], lifetime: Callable[[Lifetimes], float], *, by_id: bool = False) -> None:
        self._codec, self._lifetime, self._by_id = codec, lifetime, by_id

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, cached: _Cached[Any], _owner: type) -> Callable[..., Any]:
        answer = cached._many if self._by_id else cached._one
        lifetime_s = self._lifetime(cached._lifetimes)
        return functools.partial(answer, self._codec, lifetime_s, getattr(cached._over, self._name))


class CachedLookup(_Cached[NcbiLookup]):
    """The port `NcbiLookup` over another one and a cache. A text that its publisher withholds is not stored."""

    mesh = Stored(MESH, lambda lives: lives.link_s)
    convert = Stored(IDS, lambda lives: lives.link_s, by_id=True)

    def ecitmatch(self, citations: Sequence[Citation], *, deadline: Deadline) -> list[CitationMatch]:
        by_id = {json.dumps(astuple(citation)): citation for citation in citations}

        def fetch(missing: Sequence[str], *, deadline: Deadline) -> dict[str, CitationMatch]:
            matches = self._over.ecitmatch([by_id[id_] for id_ in missing], deadline=deadline)
            return {json.dumps(astuple(match.citation)): match for match in matches}

        found = self._many(MATCH, self._lifetimes.link_s, fetch, list(by_id), deadline=deadline)
        return [found[json.dumps(astuple(citation))] for citation in citations]

    def full_text(self, pmcid: str, *, deadline: Deadline) -> FullText:
        number, lifetime_s = identifiers.pmcid(pmcid), self._lifetimes.record_s
        return self._one(FULL_TEXT, lifetime_s, self._over.full_text, number, deadline=deadline)


FLAGGED = {RetractionStatus.RETRACTED, RetractionStatus.CONCERN}
PRINTED_PMID = {
    "medline": re.compile(r"^PMID- *(\d+)", re.MULTILINE),
    "xml": re.compile(r"<(?:MedlineCitation|BookDocument)\b[^>]*>\s*<PMID\b[^>]*>(\d+)</PMID>"),
}


class CachedPubmed(_Cached[Pubmed]):
    """The port `Pubmed` over another one and a cache.

    Of several PMIDs only the missing ones are requested. A record or summary with a retraction invalidates the other
    forms of that paper, which may not show it yet; `invalidate` drops all forms. `today` is the date at NCBI, on which
    the hits of a search depend.
    """

    espell = Stored(SPELLING, lambda lives: lives.search_s)
    einfo = Stored(DATABASE, lambda lives: lives.info_s)

    def __init__(
        self, pubmed: Pubmed, cache: Cache, lifetimes: Lifetimes, source: str, today: Callable[[], date]
    ) -> None:
        super().__init__(pubmed, cache, lifetimes, source)
        self._today = today

    def esearch(
        self, term: str, *, deadline: Deadline, retmax: int, sort: str = "relevance", history: bool = False
    ) -> SearchPage:
        options: dict[str, Any] = {"retmax": retmax, "sort": sort, "history": history}
        ask, today = self._over.esearch, (self._today().isoformat(),)
        return self._one(PAGE, self._lifetimes.search_s, ask, term, deadline=deadline, depends_on=today, **options)

    def esummary(self, pmids: Sequence[str], *, deadline: Deadline) -> Summaries:
        ids = checked(pmids)
        return self._summaries(ids, lambda missing: self._over.esummary(missing, deadline=deadline), deadline)

    def summaries_of(self, page: SearchPage, many: int, *, deadline: Deadline) -> Summaries:
        """Unless all are cached, all are requested: NCBI's history server has the search, so it is one request."""
        return self._summaries(
            page.ids[:many], lambda _missing: self._over.summaries_of(page, many, deadline=deadline), deadline
        )

    def efetch(self, pmids: Sequence[str], *, deadline: Deadline) -> Iterator[Article | Deletion]:
        """The cached records come first, then the fetched ones."""
        gathered = self._gathered(
            CacheQuery(RECORD, checked(pmids), self._lifetimes.record_s),
            lambda missing: list(self._over.efetch(missing, deadline=deadline)),
            _newest,
            deadline,
        )
        fresh = gathered.fresh or []
        flagged = [record.pmid for record in fresh if isinstance(record, Article) and record.retraction in FLAGGED]
        self.invalidate(flagged, [SUMMARY])
        return iter([*gathered.cached.values(), *fresh])

    def efetch_text(self, pmids: Sequence[str], *, style: Literal["xml", "medline"], deadline: Deadline) -> str:
        """A text that lacks one of the records is not cached, nor used after one of them was invalidated."""
        ids, lifetime_s = checked(pmids), self._lifetimes.record_s
        keys = self._keys(CacheQuery(INVALIDATED, ids, lifetime_s))
        invalidated = dict(_decoded(INVALIDATED, keys, self._cache.get(list(keys.values())))) if lifetime_s > 0 else {}
        whole = replace(TEXT, complete=lambda text: set(ids) <= set(PRINTED_PMID[style].findall(text)))
        ask, depends_on = self._over.efetch_text, (invalidated,)
        return self._one(whole, lifetime_s, ask, ids, deadline=deadline, depends_on=depends_on, style=style)

    def elink(
        self,
        pmids: Sequence[str],
        *,
        link_name: str = SIMILAR,
        command: Literal["neighbor", "neighbor_score"] = "neighbor",
        deadline: Deadline,
    ) -> tuple[LinkSet, ...]:
        def fetch(
            missing: list[str], link_name: str, command: Literal["neighbor", "neighbor_score"], *, deadline: Deadline
        ) -> dict[str, LinkSet]:
            found = self._over.elink(missing, link_name=link_name, command=command, deadline=deadline)
            return {linkset.pmid: linkset for linkset in found}

        ids = checked(pmids)
        found = self._many(LINKS, self._lifetimes.link_s, fetch, ids, link_name, command, deadline=deadline)
        return tuple(found[pmid] for pmid in ids)

    def invalidate(self, pmids: Sequence[str], forms: Sequence[Codec[Any]] = (RECORD, SUMMARY)) -> None:
        """Remove what is cached of these papers in these forms, and as texts.

        A text may be of many papers, so its key is unknown; a token per invalidated paper is a part of that key.
        """
        lifetime_s = self._lifetimes.record_s
        if not pmids or lifetime_s <= 0:
            return
        for form in forms:
            self._cache.put(dict.fromkeys(self._keys(CacheQuery(form, pmids, lifetime_s)).values(), b""), 0)
        keys = self._keys(CacheQuery(INVALIDATED, pmids, lifetime_s)).values()
        self._cache.put(dict.fromkeys(keys, uuid4().hex.encode()), lifetime_s)

    def _summaries(self, ids: Sequence[str], fetch: Callable[[list[str]], Summaries], deadline: Deadline) -> Summaries:
        gathered = self._gathered(
            CacheQuery(SUMMARY, ids, self._lifetimes.record_s),
            fetch,
            lambda summaries: {summary.pmid: summary for summary in summaries.found},
            deadline,
        )
        fresh = gathered.fresh or Summaries((), {})
        self.invalidate([summary.pmid for summary in fresh.found if summary.retraction in FLAGGED], [RECORD])
        known: dict[str, DocSummary] = gathered.cached | {summary.pmid: summary for summary in fresh.found}
        present = known.keys() - fresh.missing.keys()
        return Summaries(tuple(known[pmid] for pmid in ids if pmid in present), fresh.missing)


def _newest(records: Sequence[Article | Deletion]) -> dict[str, Article]:
    """The newest version and revision of each record; nothing for a deleted one."""
    found = newest(records)
    return {pmid: record for pmid, record in found.items() if isinstance(record, Article)}


class CachedMetrics(_Cached[CitationMetrics]):
    """The port `CitationMetrics` over another one and a cache."""

    of = Stored(METRICS, lambda lives: lives.link_s, by_id=True)


class CachedNotices(_Cached[Notices]):
    """The port `Notices` over another one and a cache. A retraction is seen as late as PubMed's."""

    of = Stored(WORK, lambda lives: lives.record_s, by_id=True)

    def titled(self, title: str, *, deadline: Deadline) -> tuple[RegisteredWork, ...]:
        """Not stored: a document is looked up once."""
        return self._over.titled(title, deadline=deadline)


class CachedEuropePmc(_Cached[EuropePmc]):
    """The port `EuropePmc` over another one and a cache."""

    search = Stored(EUROPE_PMC_PAGE, lambda lives: lives.search_s)
    articles = Stored(EUROPE_PMC, lambda lives: lives.link_s, by_id=True)
    full_text = Stored(FULL_TEXT, lambda lives: lives.record_s)


class CachedOpenAccess(_Cached[OpenAccess]):
    """The port `OpenAccess` over another one and a cache."""

    copies = Stored(COPIES, lambda lives: lives.link_s)


@dataclass(frozen=True, slots=True)
class InvalidatingAnnouncements:
    """The port `Announcements` that invalidates the cache before it announces.

    A listener that asks about a changed paper is therefore never answered with the old state. `cache` is called
    only when there is a change to an existing paper.
    """

    announcements: Announcements
    cache: Callable[[], CachedPubmed]

    def publish(self, changes: Sequence[CorpusChange]) -> None:
        outdated = list(dict.fromkeys(change.pmid for change in changes if change.kind is not ChangeKind.NEW))
        if outdated:
            self.cache().invalidate(outdated)
        self.announcements.publish(changes)
