"""PubMed, asked for what is not kept."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal
from uuid import uuid4

from bio_mcp.adapters.caching.answers import SINGLE, AnswerCache, CacheQuery
from bio_mcp.adapters.caching.codecs import (
    DATABASE,
    LINKS,
    OVERTAKEN,
    PAGE,
    RECORD,
    SPELLING,
    SUMMARY,
    TEXT,
    Codec,
)
from bio_mcp.adapters.caching.fail_open import FailOpenCache
from bio_mcp.adapters.entrez.pmids import checked
from bio_mcp.cache import Cache
from bio_mcp.deadline import Deadline
from bio_mcp.literature.records import Article, Deletion, RetractionStatus
from bio_mcp.pubmed import (
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

WITHDRAWN = {RetractionStatus.RETRACTED, RetractionStatus.CONCERN}
PRINTED = {
    "medline": re.compile(r"^PMID- *(\d+)", re.MULTILINE),
    "xml": re.compile(r"<(?:MedlineCitation|BookDocument)\b[^>]*>\s*<PMID\b[^>]*>(\d+)</PMID>"),
}


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Seconds that each kind of answer is kept; 0: never."""

    record_s: float  # records, their texts and summaries
    search_s: float  # searches and spellings
    link_s: float
    info_s: float


class CachedPubmed:
    """The port `Pubmed` over another one and a cache.

    Kept are whole answers alone: no failure, and nothing that PubMed says is not there, for it may be there next time.
    Of several PMIDs only those that are not kept are asked for. What says that a paper was retracted ends what was kept
    of it in another form and may not say so yet, and `forget` ends it in all. `source` is the base URL of `pubmed`,
    `today` the day at NCBI: what a search finds depends on it. Threads may share it.
    """

    def __init__(
        self, pubmed: Pubmed, cache: Cache, lifetimes: Lifetimes, *, source: str, today: Callable[[], date]
    ) -> None:
        self._pubmed = pubmed
        self._shelf = AnswerCache(FailOpenCache(cache), source)
        self._lifetimes = lifetimes
        self._today = today

    def esearch(
        self, term: str, *, deadline: Deadline, retmax: int, sort: str = "relevance", history: bool = False
    ) -> SearchPage:
        """One that found nothing is not kept."""
        about = (term, retmax, sort, history, self._today().isoformat())
        return self._shelf.one(
            CacheQuery(PAGE, [SINGLE], self._lifetimes.search_s, about),
            lambda: self._pubmed.esearch(term, deadline=deadline, retmax=retmax, sort=sort, history=history),
            lambda page: bool(page.ids),
            deadline,
        )

    def espell(self, term: str, *, deadline: Deadline) -> Spelling:
        return self._shelf.one(
            CacheQuery(SPELLING, [SINGLE], self._lifetimes.search_s, (term,)),
            lambda: self._pubmed.espell(term, deadline=deadline),
            lambda spelling: spelling.corrected is not None,
            deadline,
        )

    def esummary(self, pmids: Sequence[str], *, deadline: Deadline) -> Summaries:
        ids = checked(pmids)
        return self._summaries(ids, lambda missing: self._pubmed.esummary(missing, deadline=deadline), deadline)

    def summaries_of(self, page: SearchPage, many: int, *, deadline: Deadline) -> Summaries:
        """Unless all are kept, all are asked for: NCBI keeps the search, which is one request."""
        return self._summaries(
            page.ids[:many], lambda _missing: self._pubmed.summaries_of(page, many, deadline=deadline), deadline
        )

    def efetch(self, pmids: Sequence[str], *, deadline: Deadline) -> Iterator[Article | Deletion]:
        """Those that were kept come first."""
        held, fetched = self._shelf.gather(
            CacheQuery(RECORD, checked(pmids), self._lifetimes.record_s),
            lambda missing: list(self._pubmed.efetch(missing, deadline=deadline)),
            _newest,
            deadline,
        )
        fresh = [record for records in fetched for record in records]
        retracted = [each.pmid for each in fresh if isinstance(each, Article) and each.retraction in WITHDRAWN]
        self._overtake(retracted, SUMMARY)
        return iter([*held.values(), *fresh])

    def efetch_text(self, pmids: Sequence[str], *, style: Literal["xml", "medline"], deadline: Deadline) -> str:
        """A text that lacks one of the records is not kept, nor found once one of them was overtaken."""
        ids = checked(pmids)
        overtaken = self._shelf.held(CacheQuery(OVERTAKEN, ids, self._lifetimes.record_s))
        return self._shelf.one(
            CacheQuery(TEXT, [SINGLE], self._lifetimes.record_s, (style, ids, overtaken)),
            lambda: self._pubmed.efetch_text(ids, style=style, deadline=deadline),
            lambda text: set(ids) <= set(PRINTED[style].findall(text)),
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
        """That nothing is linked is not kept."""
        ids = checked(pmids)
        held, answers = self._shelf.gather(
            CacheQuery(LINKS, ids, self._lifetimes.link_s, (link_name, command)),
            lambda missing: self._pubmed.elink(missing, link_name=link_name, command=command, deadline=deadline),
            lambda found: [(each.pmid, each) for each in found if each.links],
            deadline,
        )
        sets = held | {each.pmid: each for found in answers for each in found}
        return tuple(sets[pmid] for pmid in ids)

    def einfo(self, *, deadline: Deadline) -> EntrezDatabase:
        return self._shelf.one(
            CacheQuery(DATABASE, [SINGLE], self._lifetimes.info_s),
            lambda: self._pubmed.einfo(deadline=deadline),
            lambda _database: True,
            deadline,
        )

    def check(self, *, deadline: Deadline) -> None:
        """Always asks."""
        self._pubmed.check(deadline=deadline)

    def contact(self) -> ConnectionStatus:
        return self._pubmed.contact()

    def forget(self, pmids: Sequence[str]) -> None:
        """What is kept of these papers was overtaken: in every form it is asked for again."""
        self._overtake(pmids, RECORD, SUMMARY)

    def _overtake(self, pmids: Sequence[str], *forms: Codec[Any]) -> None:
        """A text may be of many papers, so that nobody knows its key: what overtook them becomes a part of it."""
        for form in forms:
            self._shelf.forget(CacheQuery(form, pmids, self._lifetimes.record_s))
        self._shelf.keep(CacheQuery(OVERTAKEN, pmids, self._lifetimes.record_s), uuid4().hex)

    def _summaries(self, ids: Sequence[str], ask: Callable[[list[str]], Summaries], deadline: Deadline) -> Summaries:
        held, answers = self._shelf.gather(
            CacheQuery(SUMMARY, ids, self._lifetimes.record_s),
            ask,
            lambda summaries: [(each.pmid, each) for each in summaries.found],
            deadline,
        )
        told = answers[0] if answers else Summaries((), {})
        retracted = [each.pmid for each in told.found if each.retraction in WITHDRAWN]
        self._overtake(retracted, RECORD)
        found: dict[str, DocSummary] = held | {each.pmid: each for each in told.found}
        return Summaries(tuple(found[pmid] for pmid in ids if pmid in found.keys() - told.missing.keys()), told.missing)


def _newest(records: Sequence[Article | Deletion]) -> list[tuple[str, Article]]:
    """The newest version of each record; nothing of one that was withdrawn."""
    gone = {record.pmid for record in records if isinstance(record, Deletion)}
    by_age = sorted((each for each in records if isinstance(each, Article)), key=lambda each: each.pmid_version)
    return [(record.pmid, record) for record in by_age if record.pmid not in gone]
