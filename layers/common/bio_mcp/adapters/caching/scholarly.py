"""Services about papers behind a cache. As with NCBI's answers, "not found" is never stored, nor a failure."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from bio_mcp.adapters.caching.answers import SINGLE, AnswerCache, CacheQuery
from bio_mcp.adapters.caching.codecs import COPIES, EUROPE_PMC, EUROPE_PMC_PAGE, FULL_TEXT, METRICS, WORK
from bio_mcp.adapters.caching.fail_open import FailOpenCache
from bio_mcp.deadline import Deadline
from bio_mcp.literature.jats import FullText
from bio_mcp.ports.cache import Cache
from bio_mcp.ports.europe_pmc import EuropePmc, EuropePmcPage, EuropePmcRecord, Order
from bio_mcp.ports.metrics import CitationMetrics, Metrics
from bio_mcp.ports.notices import Notices, RegisteredWork
from bio_mcp.ports.open_access import Copies, OpenAccess

V = TypeVar("V")


def _gathered(
    answers: AnswerCache, query: CacheQuery[V], fetch: Callable[[Sequence[str]], dict[str, V]], deadline: Deadline
) -> dict[str, V]:
    """What is known of each id of `query`, in its order; `fetch` is asked for those that are not cached."""
    gathered = answers.gather(query, fetch, lambda found: found.items(), deadline)
    found = gathered.cached | (gathered.fresh or {})
    return {each: found[each] for each in query.ids if each in found}


class CachedMetrics:
    """The port `CitationMetrics` over another one; figures are stored for `lifetime_s`. `source` is its address."""

    def __init__(self, metrics: CitationMetrics, cache: Cache, *, lifetime_s: float, source: str) -> None:
        self._metrics = metrics
        self._answers = AnswerCache(FailOpenCache(cache), source)
        self._lifetime_s = lifetime_s

    def of(self, pmids: Sequence[str], *, deadline: Deadline) -> dict[str, Metrics]:
        query = CacheQuery(METRICS, list(dict.fromkeys(pmids)), self._lifetime_s)
        return _gathered(self._answers, query, lambda missing: self._metrics.of(missing, deadline=deadline), deadline)


class CachedNotices:
    """The port `Notices` over another one; works are stored for `lifetime_s`. `source` is its address."""

    def __init__(self, notices: Notices, cache: Cache, *, lifetime_s: float, source: str) -> None:
        self._notices = notices
        self._answers = AnswerCache(FailOpenCache(cache), source)
        self._lifetime_s = lifetime_s

    def of(self, dois: Sequence[str], *, deadline: Deadline) -> dict[str, RegisteredWork]:
        query = CacheQuery(WORK, list(dict.fromkeys(dois)), self._lifetime_s)
        return _gathered(self._answers, query, lambda missing: self._notices.of(missing, deadline=deadline), deadline)


class CachedEuropePmc:
    """The port `EuropePmc` over another one. Records are stored for `lifetime_s`, searches for `search_s`, texts for
    `text_s`. `source` is its address."""

    def __init__(
        self, europe_pmc: EuropePmc, cache: Cache, *, lifetime_s: float, search_s: float, text_s: float, source: str
    ) -> None:
        self._europe_pmc = europe_pmc
        self._answers = AnswerCache(FailOpenCache(cache), source)
        self._lifetime_s, self._search_s, self._text_s = lifetime_s, search_s, text_s

    def search(
        self, query: str, most: int, *, order: Order = "relevance", cursor: str = "", deadline: Deadline
    ) -> EuropePmcPage:
        return self._answers.single(
            CacheQuery(EUROPE_PMC_PAGE, [SINGLE], self._search_s, (query, most, order, cursor)),
            lambda: self._europe_pmc.search(query, most, order=order, cursor=cursor, deadline=deadline),
            lambda page: bool(page.records),
            deadline,
        )

    def articles(self, ids: Sequence[str], *, deadline: Deadline) -> dict[str, EuropePmcRecord]:
        query = CacheQuery(EUROPE_PMC, list(dict.fromkeys(ids)), self._lifetime_s)
        return _gathered(
            self._answers, query, lambda missing: self._europe_pmc.articles(missing, deadline=deadline), deadline
        )

    def full_text(self, text_id: str, *, deadline: Deadline) -> FullText:
        return self._answers.single(
            CacheQuery(FULL_TEXT, [SINGLE], self._text_s, (text_id,)),
            lambda: self._europe_pmc.full_text(text_id, deadline=deadline),
            lambda _text: True,
            deadline,
        )


class CachedOpenAccess:
    """The port `OpenAccess` over another one; copies are stored for `lifetime_s`. `source` is its address."""

    def __init__(self, open_access: OpenAccess, cache: Cache, *, lifetime_s: float, source: str) -> None:
        self._open_access = open_access
        self._answers = AnswerCache(FailOpenCache(cache), source)
        self._lifetime_s = lifetime_s

    def copies(self, doi: str, *, deadline: Deadline) -> Copies:
        return self._answers.single(
            CacheQuery(COPIES, [SINGLE], self._lifetime_s, (doi,)),
            lambda: self._open_access.copies(doi, deadline=deadline),
            lambda copies: bool(copies.copies),
            deadline,
        )
