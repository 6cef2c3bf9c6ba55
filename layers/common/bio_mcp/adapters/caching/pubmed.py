"""PubMed behind a cache."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal
from uuid import uuid4

from bio_mcp.adapters.caching.answers import SINGLE, AnswerCache, CacheQuery
from bio_mcp.adapters.caching.codecs import (
    DATABASE,
    INVALIDATED,
    LINKS,
    PAGE,
    RECORD,
    SPELLING,
    SUMMARY,
    TEXT,
    Codec,
)
from bio_mcp.adapters.caching.fail_open import FailOpenCache
from bio_mcp.adapters.entrez.pmids import checked
from bio_mcp.deadline import Deadline
from bio_mcp.literature.records import Article, Deletion, RetractionStatus
from bio_mcp.ports.cache import Cache
from bio_mcp.ports.pubmed import (
    SIMILAR,
    ConnectionStatus,
    DocSummary,
    EntrezDatabase,
    LinkSet,
    Pubmed,
    SearchPage,
    Spelling,
    Summaries,
)

FLAGGED = {RetractionStatus.RETRACTED, RetractionStatus.CONCERN}
PRINTED_PMID = {
    "medline": re.compile(r"^PMID- *(\d+)", re.MULTILINE),
    "xml": re.compile(r"<(?:MedlineCitation|BookDocument)\b[^>]*>\s*<PMID\b[^>]*>(\d+)</PMID>"),
}


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long each kind of answer is cached, in seconds; 0: never."""

    record_s: float  # records, their texts and summaries
    search_s: float  # searches and spellings
    link_s: float
    info_s: float


class CachedPubmed:
    """The port `Pubmed` over another one and a cache.

    Only complete answers are stored: no failure, and never that PubMed does not have something, as it may have it next
    time. Of several PMIDs only the missing ones are requested. A record or summary with a retraction invalidates the
    other forms of that paper, which may not show it yet; `invalidate` drops all forms. `source` is the base URL of
    `pubmed`, `today` the date at NCBI, on which the hits of a search depend. Threads may share it.
    """

    def __init__(
        self, pubmed: Pubmed, cache: Cache, lifetimes: Lifetimes, *, source: str, today: Callable[[], date]
    ) -> None:
        self._pubmed = pubmed
        self._answers = AnswerCache(FailOpenCache(cache), source)
        self._lifetimes = lifetimes
        self._today = today

    def esearch(
        self, term: str, *, deadline: Deadline, retmax: int, sort: str = "relevance", history: bool = False
    ) -> SearchPage:
        """A search without hits is not cached."""
        params = (term, retmax, sort, history, self._today().isoformat())
        return self._answers.single(
            CacheQuery(PAGE, [SINGLE], self._lifetimes.search_s, params),
            lambda: self._pubmed.esearch(term, deadline=deadline, retmax=retmax, sort=sort, history=history),
            lambda page: bool(page.ids),
            deadline,
        )

    def espell(self, term: str, *, deadline: Deadline) -> Spelling:
        """A term without a correction is not cached."""
        return self._answers.single(
            CacheQuery(SPELLING, [SINGLE], self._lifetimes.search_s, (term,)),
            lambda: self._pubmed.espell(term, deadline=deadline),
            lambda spelling: spelling.corrected is not None,
            deadline,
        )

    def esummary(self, pmids: Sequence[str], *, deadline: Deadline) -> Summaries:
        ids = checked(pmids)
        return self._summaries(ids, lambda missing: self._pubmed.esummary(missing, deadline=deadline), deadline)

    def summaries_of(self, page: SearchPage, many: int, *, deadline: Deadline) -> Summaries:
        """Unless all are cached, all are requested: NCBI's history server has the search, so it is one request."""
        return self._summaries(
            page.ids[:many], lambda _missing: self._pubmed.summaries_of(page, many, deadline=deadline), deadline
        )

    def efetch(self, pmids: Sequence[str], *, deadline: Deadline) -> Iterator[Article | Deletion]:
        """The cached records come first, then the fetched ones."""
        gathered = self._answers.gather(
            CacheQuery(RECORD, checked(pmids), self._lifetimes.record_s),
            lambda missing: list(self._pubmed.efetch(missing, deadline=deadline)),
            _newest,
            deadline,
        )
        fresh = gathered.fresh or []
        flagged = [record.pmid for record in fresh if isinstance(record, Article) and record.retraction in FLAGGED]
        self._invalidate(flagged, SUMMARY)
        return iter([*gathered.cached.values(), *fresh])

    def efetch_text(self, pmids: Sequence[str], *, style: Literal["xml", "medline"], deadline: Deadline) -> str:
        """A text that lacks one of the records is not cached, nor used after one of them was invalidated."""
        ids = checked(pmids)
        invalidated = self._answers.get(CacheQuery(INVALIDATED, ids, self._lifetimes.record_s))
        return self._answers.single(
            CacheQuery(TEXT, [SINGLE], self._lifetimes.record_s, (style, ids, invalidated)),
            lambda: self._pubmed.efetch_text(ids, style=style, deadline=deadline),
            lambda text: set(ids) <= set(PRINTED_PMID[style].findall(text)),
            deadline,
        )

    def elink(
        self,
        pmids: Sequence[str],
        *,
        link_name: str = SIMILAR,
        command: Literal["neighbor", "neighbor_score"] = "neighbor",
        deadline: Deadline,
    ) -> tuple[LinkSet, ...]:
        """A PMID without links is not cached."""
        ids = checked(pmids)
        gathered = self._answers.gather(
            CacheQuery(LINKS, ids, self._lifetimes.link_s, (link_name, command)),
            lambda missing: self._pubmed.elink(missing, link_name=link_name, command=command, deadline=deadline),
            lambda linksets: [(linkset.pmid, linkset) for linkset in linksets if linkset.links],
            deadline,
        )
        linksets = gathered.cached | {linkset.pmid: linkset for linkset in gathered.fresh or ()}
        return tuple(linksets[pmid] for pmid in ids)

    def einfo(self, *, deadline: Deadline) -> EntrezDatabase:
        return self._answers.single(
            CacheQuery(DATABASE, [SINGLE], self._lifetimes.info_s),
            lambda: self._pubmed.einfo(deadline=deadline),
            lambda _database: True,
            deadline,
        )

    def check(self, *, deadline: Deadline) -> None:
        """Always asks NCBI."""
        self._pubmed.check(deadline=deadline)

    def contact(self) -> ConnectionStatus:
        return self._pubmed.contact()

    def invalidate(self, pmids: Sequence[str]) -> None:
        """Remove what is cached of these papers, in every form."""
        self._invalidate(pmids, RECORD, SUMMARY)

    def _invalidate(self, pmids: Sequence[str], *forms: Codec[Any]) -> None:
        """A text may be of many papers, so its key is unknown; a token per invalidated paper is a part of that key."""
        for form in forms:
            self._answers.invalidate(CacheQuery(form, pmids, self._lifetimes.record_s))
        self._answers.put(CacheQuery(INVALIDATED, pmids, self._lifetimes.record_s), uuid4().hex)

    def _summaries(self, ids: Sequence[str], fetch: Callable[[list[str]], Summaries], deadline: Deadline) -> Summaries:
        gathered = self._answers.gather(
            CacheQuery(SUMMARY, ids, self._lifetimes.record_s),
            fetch,
            lambda summaries: [(summary.pmid, summary) for summary in summaries.found],
            deadline,
        )
        fresh = gathered.fresh or Summaries((), {})
        self._invalidate([summary.pmid for summary in fresh.found if summary.retraction in FLAGGED], RECORD)
        known: dict[str, DocSummary] = gathered.cached | {summary.pmid: summary for summary in fresh.found}
        present = known.keys() - fresh.missing.keys()
        return Summaries(tuple(known[pmid] for pmid in ids if pmid in present), fresh.missing)


def _newest(records: Sequence[Article | Deletion]) -> list[tuple[str, Article]]:
    """The newest version of each record; nothing for a deleted one."""
    deleted = {record.pmid for record in records if isinstance(record, Deletion)}
    articles = sorted((r for r in records if isinstance(r, Article)), key=lambda article: article.pmid_version)
    return [(article.pmid, article) for article in articles if article.pmid not in deleted]
