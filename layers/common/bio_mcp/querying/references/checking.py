"""Checks of references: found, doubtful, retracted or unknown, step by step from the cheapest."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Literal, TypeVar

from bio_mcp.deadline import Deadline
from bio_mcp.errors import BudgetSpent, DeadlineExceeded, IndexUnavailable, InvalidInput, Misconfigured, UpstreamFailed
from bio_mcp.literature.notices import status_of
from bio_mcp.literature.records import Article, Author, Journal, PartialDate, RetractionStatus
from bio_mcp.literature.references.comparing import Comparison, Difference, compare
from bio_mcp.literature.references.works import SMALL, CitedWork, folded
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import Citation, CitationMatch, SearchPage
from bio_mcp.ports.scholarly import RegisteredWork
from bio_mcp.querying.identifiers import convert
from bio_mcp.querying.search import articles
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.passages import PassageQuery

Verdict = Literal["found", "doubtful", "not_found", "retracted", "unchecked", "unknown"]
PROBLEMS: Mapping[str, str] = {
    "retracted": "The cited paper was retracted.",
    "not_found": "PubMed has no such paper: the reference may be invented.",
    "doubtful": "The reference differs from the record of the paper that it seems to mean.",
    "unknown": "The reference could not be checked, as a service could not be asked.",
    "concern": "An expression of concern was published about the cited paper.",
    "corrected": "A correction of the cited paper was published.",
    "unchecked": "No article, or too little stated: the reference was not checked.",
}
"""What may be wrong with a reference, the gravest first, and what that means."""


def problem_of(row: Mapping[str, Any]) -> str | None:
    """What is wrong with a reference, of `PROBLEMS`; None for one that is found and clear. A retraction counts before
    all else."""
    if row.get("retraction") == "retracted":
        return "retracted"
    if row["verdict"] != "found":
        return str(row["verdict"])
    return str(row["retraction"]) if row.get("retraction") in ("concern", "corrected") else None


@dataclass(frozen=True, slots=True)
class Checked:
    """The verdict on a reference, and the record that it means.

    found: the record has what the reference states. retracted: so, and the paper was retracted. doubtful: a record is
    near and something differs, or too little is stated to be sure. not_found: PubMed has no such paper. unchecked: it
    is a book, a web page or the like, or states too little to look for. unknown: a service failed,
    which says nothing about it.
    """

    work: CitedWork
    verdict: Verdict
    article: Article | None = None
    agrees: tuple[str, ...] = ()
    differs: tuple[Difference, ...] = ()
    reason: str | None = None


Compared = tuple[Article, Comparison]


def verdict_on(work: CitedWork, compared: Iterable[Compared], *, complete: bool) -> Checked:
    """Judge a reference by the records that may be meant, as they compare with it.

    `complete`: everything that could be asked was answered.
    """
    near = [each for each in compared if each[1].confirms or each[1].is_near]
    if not near:
        return _without_record(work, complete)
    # the nearest, of equal ones that with the lowest PMID
    article, comparison = min(near, key=lambda each: (not each[1].confirms, -each[1].score, int(each[0].pmid or 0)))
    if comparison.confirms:
        retracted = article.retraction is RetractionStatus.RETRACTED
        verdict: Verdict = "retracted" if retracted else "found"
        return Checked(work, verdict, article, comparison.agrees, comparison.differs)
    if not complete:
        return Checked(work, "unknown", None, reason="a service failed, so another record may be the one that is meant")
    return Checked(work, "doubtful", article, comparison.agrees, comparison.differs, _doubt(comparison))


def _without_record(work: CitedWork, complete: bool) -> Checked:
    if not complete:
        return Checked(work, "unknown", reason="a service failed, which says nothing about this reference")
    if work.kind == "other":
        return Checked(work, "unchecked", reason="no article: PubMed has few books, web pages, reports and data sets")
    if not (work.title or work.doi or work.pmid or work.pmcid or (work.journal and work.pages)):
        return Checked(work, "unchecked", reason="it states too little to look for")
    return Checked(work, "not_found", reason="PubMed has no such paper")


def _doubt(comparison: Comparison) -> str | None:
    """Why, beside what differs."""
    if not comparison.serious:
        return "it states too little to be sure that this record is meant"
    another = any(each.field == "title" and not each.words for each in comparison.serious)
    if another and {"pmid", "doi", "pmcid"} & set(comparison.agrees):
        return "its id is of another paper than its title"
    return None


WORDS = 8  # of a title, the longest
_FEW = 4
_PLAIN = re.compile(r"[a-z]{3,}")
_BARE = re.compile(r"[\w.&' -]+")


def citation_of(work: CitedWork) -> Citation | None:
    """The imprint as NCBI's matcher takes it; None with less than journal, and volume or page.

    The author is left out where volume and page say enough, so that a wrong author does not hide the paper.
    """
    page = first_page(work)
    if not work.journal or not (work.volume or page) or sum(map(bool, (work.year, work.volume, page))) < 2:
        return None
    author = "" if work.volume and page else _author(work)
    return Citation(*(_field(each) for each in (work.journal, work.year, work.volume, page, author)))


def first_page(work: CitedWork) -> str:
    """The first page, or the article number."""
    return re.split(r"\s*[-–—‐‑−,;]", work.pages)[0].strip()


def title_term(work: CitedWork) -> str:
    """A PubMed query of the longest words of the title; "" for a title of less than two."""
    words = _title_words(work)
    return " AND ".join(f"{word}[ti]" for word in words) if len(words) > 1 else ""


def field_term(work: CitedWork) -> str:
    """A PubMed query for a paper whose title has an error: author, year and either of two pairs of words; or else of
    the imprint. "" where too little is stated."""
    author, words = _author(work), sorted(_title_words(work), key=len, reverse=True)[:_FEW]
    if author and work.year and words:
        pairs = [" AND ".join(f"{word}[ti]" for word in words[start::2]) for start in (0, 1) if words[start::2]]
        return f"{author}[au] AND {work.year}[dp] AND ({' OR '.join(f'({each})' for each in pairs)})"
    page = first_page(work)
    parts = ((work.journal, "ta"), (work.year, "dp"), (work.volume, "vi"), (page, "pg"), (author, "au"))
    known = [f"{_field(text)}[{tag}]" for text, tag in parts if _field(text)]
    return " AND ".join(known) if len(known) > 2 and page else ""


def _title_words(work: CitedWork) -> list[str]:
    """The longest plain words of the title, in their order; numbers, Greek and symbols are indexed in many ways."""
    spaced = re.sub(r"[^\w\s]", " ", work.title)
    words = [word for word in dict.fromkeys(folded(spaced).split()) if _PLAIN.fullmatch(word) and word not in SMALL]
    longest = sorted(words, key=lambda word: (-len(word), word))[:WORDS]
    return [word for word in words if word in longest]


def _author(work: CitedWork) -> str:
    """`mann b`; the family name alone where initials are not known."""
    name = work.authors[0] if work.authors else ""
    family, comma, given = name.partition(",")
    if not comma:
        parts = [
            part for part in name.split() if len(part.strip(".")) > 1 and not re.fullmatch(r"(?:[A-Z]\.?-?){1,4}", part)
        ]
        family = " ".join(parts) or name
    surname = " ".join(re.findall(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*", folded(family)))[:60]
    initials = given.strip() or "".join(re.findall(r"\b[A-Z]{1,3}\b", name.replace(".", " ")))
    return " ".join(filter(None, (surname, initials[:1].casefold() if " " in name else "")))


def _field(text: str) -> str:
    return " ".join(re.findall(r"[\w.&-]+", re.sub(r"\([^()]*\)", " ", text)))[:200]


def article_of(work: RegisteredWork) -> Article:
    """The work as a record without a PMID ("")."""
    return Article(
        pmid="",
        title=work.title or None,
        authors=tuple(
            Author(last_name=family, fore_name=given) if comma else Author(collective_name=name)  # a group
            for name, (family, comma, given) in ((each, each.partition(", ")) for each in work.authors)
        ),
        journal=Journal(work.journal, volume=work.volume or None, issue=work.issue or None) if work.journal else None,
        pages=work.pages or None,
        doi=work.doi,
        publication_date=PartialDate(str(work.year), work.year) if work.year else None,
        retraction=status_of(work.notices),
    )


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
    ladder.by_ids()
    ladder.by_corpus()
    ladder.by_matcher()
    ladder.by_search(title_term)
    ladder.by_search(field_term)
    ladder.by_crossref()
    return ladder.verdicts(), list(dict.fromkeys(ladder.reasons))


class _Ladder:
    """The references of one call, the records that each may mean, and which could not be asked about."""

    def __init__(self, works: Sequence[CitedWork], backends: Backends, deadline: Deadline) -> None:
        self.works, self.backends, self.deadline = works, backends, deadline
        self.candidates: list[dict[str, None]] = [{} for _ in works]
        self.records: dict[str, Article] = {}
        self.fresh: set[str] = set()
        self.comparisons: dict[tuple[int, str], Compared] = {}
        self.open = list(range(len(works)))  # the places of those that no record confirms yet
        self.failed: set[int] = set()
        self.reasons: list[str] = []

    def by_ids(self) -> None:
        """The papers that PMIDs, PMCIDs and DOIs name; the corpus is asked for the latter first."""
        named = {
            place: [f"{kind}:{each}" for kind, each in (("doi", work.doi), ("pmcid", work.pmcid)) if each]
            for place, work in enumerate(self.works)
        }
        stored = self.backends.documents.resolve(sorted(set(chain.from_iterable(named.values()))))
        self._add(named, stored)
        self._add({place: [work.pmid] for place, work in enumerate(self.works) if work.pmid})
        self._settle()
        missing = {
            place: [each.partition(":")[2] for each in named[place] if each not in stored] for place in self.open
        }
        wanted = sorted(set(chain.from_iterable(missing.values())))
        if not wanted:
            return
        converted, reasons = convert(wanted, self.backends.lookup, self.backends.pubmed, self.deadline)
        self.reasons += reasons
        unknown = {each.asked for each in converted if each.state == "unknown"}
        self.failed |= {place for place, ids in missing.items() if unknown.intersection(ids)}
        self._add(missing, {each.asked: each.ids.pmid for each in converted if each.state == "found" and each.ids.pmid})
        self._settle()

    def by_corpus(self) -> None:
        """The papers of the corpus whose passages have the words of the title, by words alone."""
        for place in self.open:
            terms = tuple((term, 1.0) for term in dict.fromkeys(analyse(self.works[place].title)))
            if terms:
                with suppress(IndexUnavailable):  # PubMed is asked instead
                    found = self.backends.passages.hybrid_search(PassageQuery(terms, None, depth=NEAREST))
                    found.sort(key=lambda each: (-(each.bm25 or 0), int(each.pmid)))
                    self._add({place: [each.pmid for each in found[:NEAREST]]})
        self._settle(fetch=False)

    def by_matcher(self) -> None:
        """The papers that NCBI's matcher names for journal, year, volume and page."""
        cited = [(place, citation) for place in self.open if (citation := citation_of(self.works[place]))]
        for start in range(0, len(cited), MATCHED):
            some = cited[start : start + MATCHED]
            ask = partial(self.backends.lookup.ecitmatch, [citation for _, citation in some], deadline=self.deadline)
            matches = self._asked(ask, list[CitationMatch](), [place for place, _ in some])
            for (place, _), match in zip(some, matches, strict=False):
                self._add({place: [match.pmid] if match.pmid else []})
        self._settle()

    def by_crossref(self) -> None:
        """The works that Crossref has for DOIs that PubMed does not know, where the settings name Crossref."""
        places = {}
        for place in self.open:
            records = (self.records[each] for each in self.candidates[place] if each in self.records)
            known = {(each.doi or "").casefold() for each in records}  # then Crossref need not learn of it
            if (doi := self.works[place].doi) and doi not in known:
                places[place] = doi
        dois = sorted(set(places.values()))
        if not dois:
            return
        try:
            notices = self.backends.notices
        except Misconfigured:
            return
        found = self._asked(
            partial(notices.of, dois, deadline=self.deadline), dict[str, RegisteredWork](), list(places)
        )
        self.records |= {f"doi:{doi}": article_of(work) for doi, work in found.items()}
        self._add({place: [f"doi:{doi}"] for place, doi in places.items() if doi in found})
        self._settle(fetch=False)

    def by_search(self, term_of: Callable[[CitedWork], str]) -> None:
        """The papers that PubMed has for such a term."""
        terms = [(place, term) for place in self.open if (term := term_of(self.works[place]))]
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
        self._add(dict.fromkeys(places, page.ids))

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
        return verdict_on(self.works[place], compared, complete=place not in self.failed)

    def _compared(self, place: int, pmid: str) -> Compared:
        article = self.records[pmid]
        known = self.comparisons.get((place, pmid))
        if known is None or known[0] is not article:
            known = self.comparisons[place, pmid] = article, compare(self.works[place], article)
        return known

    def _add(self, found: Mapping[int, Sequence[str]], pmids: Mapping[str, str] | None = None) -> None:
        """Add candidates, by PMID or by ids of which `pmids` has the PMIDs that are known."""
        for place, ids in found.items():
            known = ids if pmids is None else [pmids[each] for each in ids if each in pmids]
            self.candidates[place].update(dict.fromkeys(known))

    def _settle(self, *, fetch: bool = True) -> None:
        """Read the records of new candidates, the corpus first, and note which references are confirmed."""
        wanted = sorted({pmid for place in self.open for pmid in self.candidates[place]} - self.records.keys(), key=int)
        if wanted:
            stored = self.backends.documents.get_many(wanted)
            self.records |= {pmid: document.article for pmid, document in stored.items()}
            if fetch:
                self._fetch([pmid for pmid in wanted if pmid not in stored], self.open)
        self.open = [place for place in self.open if self._verdict(place).verdict not in ("found", "retracted")]

    def _fetch(self, pmids: list[str], places: list[int]) -> None:
        for start in range(0, len(pmids), FETCHED):
            some = pmids[start : start + FETCHED]
            waiting = [place for place in places if not self.candidates[place].keys().isdisjoint(some)]
            ask = partial(articles, some, self.backends.pubmed, self.deadline)
            found = self._asked(ask, dict[str, Article](), waiting)
            self.records |= found
            self.fresh |= found.keys()

    def _asked(self, ask: Callable[[], T], otherwise: T, places: Sequence[int]) -> T:
        """What NCBI answers; where it fails, `otherwise`, and these references count as not asked about."""
        try:
            return ask()
        except (UpstreamFailed, DeadlineExceeded, InvalidInput, BudgetSpent) as failure:
            self.failed.update(places)
            self.reasons.append(f"some references could not be looked up: {failure}")
            return otherwise
