"""Check references against the corpus and PubMed, each step for all references that still need it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TypeVar

from bio_mcp.deadline import Deadline
from bio_mcp.errors import (
    BudgetSpent,
    DeadlineExceeded,
    IndexUnavailable,
    InvalidInput,
    Misconfigured,
    UpstreamFailed,
)
from bio_mcp.literature.records import Article
from bio_mcp.literature.references.comparing import compare
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import CitationMatch
from bio_mcp.ports.notices import RegisteredWork
from bio_mcp.ports.pubmed import SearchPage
from bio_mcp.querying.converting import convert
from bio_mcp.querying.fetching import articles
from bio_mcp.querying.partial import status_of
from bio_mcp.querying.references.registered import article_of
from bio_mcp.querying.references.terms import citation_of, field_term, title_term
from bio_mcp.querying.references.verdicts import Checked, Compared, verdict_on
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.passages import PassageQuery

FETCHED = 200  # records in one request
MATCHED = 100  # citations in one request
SEARCHED = 8  # references in one search
CANDIDATES = 6  # records of each that a search returns
NEAREST = 3  # papers of the corpus that a title may mean
T = TypeVar("T")


def check_references(
    works: Sequence[CitedWork], backends: Backends, deadline: Deadline
) -> tuple[list[Checked], list[str]]:
    """Give a verdict on each reference, in order, and the reasons why the answer is partial.

    Never raises failures of NCBI or Crossref: what could not be asked is `unknown`. Raises `StoreFailed`.
    """
    ladder = _Ladder(works, backends, deadline)
    steps = (ladder.by_ids, ladder.by_corpus, ladder.by_matcher, ladder.by_title, ladder.by_fields, ladder.by_crossref)
    for step in steps:
        step()
    return ladder.verdicts(), list(dict.fromkeys(ladder.reasons))


class _Ladder:
    """The references of one call, the records that each may mean, and which could not be asked about."""

    def __init__(self, works: Sequence[CitedWork], backends: Backends, deadline: Deadline) -> None:
        self.works, self.backends, self.deadline = works, backends, deadline
        self.candidates: list[dict[str, None]] = [{} for _ in works]
        self.records: dict[str, Article] = {}
        self.fresh: set[str] = set()
        self.comparisons: dict[tuple[int, str], Compared] = {}
        self.confirmed: set[int] = set()
        self.failed: set[int] = set()
        self.reasons: list[str] = []

    def by_ids(self) -> None:
        """The papers that PMIDs, PMCIDs and DOIs name; the corpus is asked for the latter first."""
        named = {place: ids for place, work in enumerate(self.works) if (ids := _identifiers(work))}
        stored = self.backends.documents.resolve(sorted(set(chain.from_iterable(named.values()))))
        self._add_each(_translated(named, stored))
        self._add_each({place: [work.pmid] for place, work in enumerate(self.works) if work.pmid})
        self._settle()
        missing = {place: named[place] for place in self._open() if place in named}
        wanted = set(chain.from_iterable(missing.values())) - stored.keys()
        if wanted:
            self._convert({place: _bare(ids) for place, ids in missing.items()}, sorted(_bare(list(wanted))))

    def _convert(self, missing: dict[int, list[str]], wanted: list[str]) -> None:
        """The papers that NCBI has for these ids."""
        converted, reasons = convert(wanted, self.backends.lookup, self.backends.pubmed, self.deadline)
        self.reasons += reasons
        pmids = {each.asked: each.ids.pmid for each in converted if each.state == "found" and each.ids.pmid}
        unknown = {each.asked for each in converted if each.state == "unknown"}
        self.failed |= {place for place, ids in missing.items() if unknown.intersection(ids)}
        self._add_each(_translated(missing, pmids))
        self._settle()

    def by_corpus(self) -> None:
        """The papers of the corpus whose passages have the words of the title, by words alone."""
        for place in self._open():
            terms = tuple((term, 1.0) for term in dict.fromkeys(analyse(self.works[place].title)))
            if terms:
                self._add(place, self._in_corpus(terms))
        self._settle(fetch=False)

    def _in_corpus(self, terms: tuple[tuple[str, float], ...]) -> list[str]:
        try:
            found = self.backends.passages.hybrid_search(PassageQuery(terms, None, depth=NEAREST))
        except IndexUnavailable:
            return []  # PubMed is asked instead
        return [each.pmid for each in sorted(found, key=lambda each: (-(each.bm25 or 0), int(each.pmid)))][:NEAREST]

    def by_matcher(self) -> None:
        """The papers that NCBI's matcher names for journal, year, volume and page."""
        cited = [(place, citation) for place in self._open() if (citation := citation_of(self.works[place]))]
        for start in range(0, len(cited), MATCHED):
            some = cited[start : start + MATCHED]
            ask = partial(self.backends.lookup.ecitmatch, [citation for _, citation in some], deadline=self.deadline)
            nothing: list[CitationMatch] = []
            for (place, _), match in zip(some, self._asked(ask, nothing, [place for place, _ in some]), strict=False):
                self._add(place, [match.pmid] if match.pmid else [])
        self._settle()

    def by_title(self) -> None:
        """The papers that PubMed has for the words of the title."""
        self._search(title_term)

    def by_fields(self) -> None:
        """The papers that PubMed has for author, year and some words, or for the imprint."""
        self._search(field_term)

    def by_crossref(self) -> None:
        """The works that Crossref has for DOIs that PubMed does not know, where the settings name Crossref."""
        places = {place: doi for place in self._open() if (doi := self.works[place].doi) and not self._has(place, doi)}
        dois = sorted(set(places.values()))
        if not dois:
            return
        try:
            notices = self.backends.notices
        except Misconfigured:
            return
        nothing: dict[str, RegisteredWork] = {}
        ask = partial(notices.of, dois, deadline=self.deadline)
        found = self._asked(ask, nothing, [place for place in places])
        self.records |= {f"doi:{doi}": article_of(work) for doi, work in found.items()}
        self._add_each({place: [f"doi:{doi}"] for place, doi in places.items() if doi in found})
        self._settle(fetch=False)

    def _has(self, place: int, doi: str) -> bool:
        """Whether PubMed has the paper of this DOI: then Crossref need not learn of it."""
        records = (self.records[each] for each in self.candidates[place] if each in self.records)
        return any((each.doi or "").casefold() == doi for each in records)

    def _search(self, term_of: Callable[[CitedWork], str]) -> None:
        terms = [(place, term) for place in self._open() if (term := term_of(self.works[place]))]
        for start in range(0, len(terms), SEARCHED):
            self._search_some(terms[start : start + SEARCHED])
        self._settle()

    def _search_some(self, terms: list[tuple[int, str]]) -> None:
        """One search for several; where it has more hits than are wanted, one for each half."""
        places, most = [place for place, _ in terms], CANDIDATES * len(terms)
        term = " OR ".join(f"({each})" for _, each in terms) if len(terms) > 1 else terms[0][1]
        ask = partial(self.backends.pubmed.esearch, term, deadline=self.deadline, retmax=most)
        page = self._asked(ask, SearchPage(0, (), ""), places)
        if page.count > most and len(terms) > 1:
            half = len(terms) // 2
            self._search_some(terms[:half])
            self._search_some(terms[half:])
            return
        for place in places:
            self._add(place, page.ids)

    def verdicts(self) -> list[Checked]:
        """The verdict on each, from records whose retraction status is PubMed's of now, where PubMed answers."""
        checked = [self._verdict(place) for place in range(len(self.works))]
        stale = {each.article.pmid for each in checked if each.article and each.article.pmid} - self.fresh
        if not stale:
            return checked
        self._fetch(sorted(stale), places=[])
        if stale - self.fresh:
            self.reasons.append("PubMed could not be asked, so what was retracted is as the corpus knows it")
        return [self._verdict(place) for place in range(len(self.works))]

    def _verdict(self, place: int) -> Checked:
        compared = [self._compared(place, pmid) for pmid in self.candidates[place] if pmid in self.records]
        verdict = verdict_on(self.works[place], compared, complete=place not in self.failed)
        return replace(verdict, reason=None) if verdict.verdict in ("found", "retracted") else verdict

    def _compared(self, place: int, pmid: str) -> Compared:
        article = self.records[pmid]
        known = self.comparisons.get((place, pmid))
        if known is None or known[0] is not article:
            known = self.comparisons[place, pmid] = article, compare(self.works[place], article)
        return known

    def _open(self) -> list[int]:
        return [place for place in range(len(self.works)) if place not in self.confirmed]

    def _add_each(self, found: dict[int, list[str]]) -> None:
        for place, pmids in found.items():
            self._add(place, pmids)

    def _add(self, place: int, pmids: Sequence[str]) -> None:
        self.candidates[place].update(dict.fromkeys(pmids))

    def _settle(self, *, fetch: bool = True) -> None:
        """Read the records of new candidates, the corpus first, and note which references are confirmed."""
        places = self._open()
        wanted = sorted({pmid for place in places for pmid in self.candidates[place]} - self.records.keys(), key=int)
        if wanted:
            stored = self.backends.documents.get_many(wanted)
            self.records |= {pmid: document.article for pmid, document in stored.items()}
            if fetch:
                self._fetch([pmid for pmid in wanted if pmid not in stored], places)
        self.confirmed |= {place for place in places if self._verdict(place).verdict in ("found", "retracted")}

    def _fetch(self, pmids: list[str], places: list[int]) -> None:
        for start in range(0, len(pmids), FETCHED):
            some = pmids[start : start + FETCHED]
            waiting = [place for place in places if not self.candidates[place].keys().isdisjoint(some)]
            nothing: dict[str, Article] = {}
            found = self._asked(partial(articles, some, self.backends.pubmed, self.deadline), nothing, waiting)
            self.records |= found
            self.fresh |= found.keys()

    def _asked(self, ask: Callable[[], T], otherwise: T, places: Sequence[int]) -> T:
        """What NCBI answers; where it fails, `otherwise`, and these references count as not asked about."""
        try:
            return ask()
        except (UpstreamFailed, DeadlineExceeded, InvalidInput, BudgetSpent) as failure:
            self.failed.update(places)
            self.reasons.append(f"some references could not be looked up ({status_of(failure)}): {failure}")
            return otherwise


def _identifiers(work: CitedWork) -> list[str]:
    return [f"{kind}:{text}" for kind, text in (("doi", work.doi), ("pmcid", work.pmcid)) if text]


def _translated(named: Mapping[int, Sequence[str]], pmids: Mapping[str, str]) -> dict[int, list[str]]:
    return {place: [pmids[each] for each in ids if each in pmids] for place, ids in named.items()}


def _bare(ids: Sequence[str]) -> list[str]:
    return [each.partition(":")[2] for each in ids]
