"""Services about papers behind a cache. As with NCBI's answers, "not found" is never stored, nor a failure."""

from collections.abc import Sequence

from bio_mcp.adapters.caching.answers import AnswerCache, CacheQuery
from bio_mcp.adapters.caching.codecs import METRICS, WORK
from bio_mcp.adapters.caching.fail_open import FailOpenCache
from bio_mcp.deadline import Deadline
from bio_mcp.ports.cache import Cache
from bio_mcp.ports.metrics import CitationMetrics, Metrics
from bio_mcp.ports.notices import Notices, RegisteredWork


class CachedMetrics:
    """The port `CitationMetrics` over another one; figures are stored for `lifetime_s`. `source` is its address."""

    def __init__(self, metrics: CitationMetrics, cache: Cache, *, lifetime_s: float, source: str) -> None:
        self._metrics = metrics
        self._answers = AnswerCache(FailOpenCache(cache), source)
        self._lifetime_s = lifetime_s

    def of(self, pmids: Sequence[str], *, deadline: Deadline) -> dict[str, Metrics]:
        asked = list(dict.fromkeys(pmids))
        gathered = self._answers.gather(
            CacheQuery(METRICS, asked, self._lifetime_s),
            lambda missing: self._metrics.of(missing, deadline=deadline),
            lambda found: found.items(),
            deadline,
        )
        found = gathered.cached | (gathered.fresh or {})
        return {pmid: found[pmid] for pmid in asked if pmid in found}


class CachedNotices:
    """The port `Notices` over another one; works are stored for `lifetime_s`. `source` is its address."""

    def __init__(self, notices: Notices, cache: Cache, *, lifetime_s: float, source: str) -> None:
        self._notices = notices
        self._answers = AnswerCache(FailOpenCache(cache), source)
        self._lifetime_s = lifetime_s

    def of(self, dois: Sequence[str], *, deadline: Deadline) -> dict[str, RegisteredWork]:
        asked = list(dict.fromkeys(dois))
        gathered = self._answers.gather(
            CacheQuery(WORK, asked, self._lifetime_s),
            lambda missing: self._notices.of(missing, deadline=deadline),
            lambda found: found.items(),
            deadline,
        )
        found = gathered.cached | (gathered.fresh or {})
        return {doi: found[doi] for doi in asked if doi in found}
