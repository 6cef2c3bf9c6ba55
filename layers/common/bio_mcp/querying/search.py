"""Live searches of PubMed: terms, records, related articles, and what a failure leaves of an answer."""

import calendar
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import pairwise
from typing import Literal, TypeVar

from bio_mcp.deadline import Deadline
from bio_mcp.errors import (
    DeadlineExceeded,
    Failure,
    InvalidInput,
    NcbiQueryRejected,
    NcbiRateLimited,
    NcbiUnreadable,
    NotFound,
    UpstreamFailed,
)
from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.ports.ncbi import SIMILAR, DocSummary, Link, Pubmed, SearchPage, Spelling, Summaries
from bio_mcp.query_terms import discard_unknown_words, unbalanced

Status = Literal["complete", "partial", "throttled", "upstream_failed"]
T = TypeVar("T")


@contextmanager
def required() -> Iterator[None]:
    """Mark a block as the answer itself: a failure in it fails the call, and gets a `status` in its details.

    A query that NCBI rejects has no `status`: the caller must change the query, and waiting does not help.
    """
    try:
        yield
    except (UpstreamFailed, DeadlineExceeded) as failure:
        if not isinstance(failure, NcbiQueryRejected):
            failure.details["status"] = failure_status(failure)
        raise


def failure_status(failure: Failure) -> Status:
    """`throttled` when we asked too fast or waited too long for a turn; else `upstream_failed`."""
    queued = isinstance(failure, DeadlineExceeded) and failure.retry_after_s is not None
    return "throttled" if queued or isinstance(failure, NcbiRateLimited) else "upstream_failed"


def optional(ask: Callable[[], T], otherwise: T, missing: str, reasons: list[str]) -> T:
    """Return `ask()`, or `otherwise` when NCBI fails; `reasons` then gets a sentence on what is `missing`.

    `InvalidInput` counts as such a failure, since the request was composed here and not by the caller.
    """
    try:
        return ask()
    except (UpstreamFailed, DeadlineExceeded, InvalidInput) as failure:  # of what we made up ourselves
        reasons.append(f"{missing}: {failure}")
        return otherwise


def summarised(ask: Callable[[], Summaries], missing: str, reasons: list[str]) -> Summaries:
    """As `optional`, for summaries; `reasons` also names the papers of which PubMed gives none."""
    known = optional(ask, Summaries((), {}), missing, reasons)
    if known.missing:
        reasons.append(f"PubMed gave no summary of PMID {', '.join(known.missing)}")
    return known


DateType = Literal["pdat", "mdat", "edat"]
FIRST, LAST = "1800", "3000"  # what PubMed takes for a range without a beginning, or without an end
SHORTEST = 3
MOST_TYPES, LONGEST_TYPE = 50, 100  # publication types of a query, and characters of one: PubMed's longest has 60
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028\u2029\ufeff]+")


@dataclass(frozen=True, slots=True)
class DateRange:
    """Days as YYYY, YYYY/MM or YYYY/MM/DD, both included; None at an open end. `kind` is the date field."""

    first: str | None
    last: str | None
    kind: DateType = "pdat"


def effective_term(query: str, dates: DateRange | None = None, publication_types: Sequence[str] = ()) -> str:
    """The query and its filters as one PubMed term.

    The query stands in brackets where a filter is added, so that its own OR stays inside. Raises `InvalidInput`.
    """
    asked = clean(query)
    clauses = [clause for clause in (dates and _date_clause(dates), _type_clause(publication_types)) if clause]
    return " AND ".join([f"({asked})", *clauses]) if clauses else asked


def clean(query: str, name: str = "queryTerm") -> str:
    """The query on one line, without control characters; `name` is what the caller calls it.

    Raises `InvalidInput` for a query of under three characters, and for open brackets or quotation marks: they would
    swallow the filters behind them.
    """
    asked = " ".join(_CONTROL.sub(" ", query).split())
    if len(asked) < SHORTEST:
        raise InvalidInput(f"at least {SHORTEST} characters are needed, spaces aside", field=name)
    if problem := unbalanced(asked):
        raise InvalidInput(problem, field=name)
    return asked


def _date_clause(dates: DateRange) -> str | None:
    """The clause of a date range; None when both ends are open. Raises `InvalidInput` for a reversed range."""
    if dates.first is None and dates.last is None:
        return None
    first, last = _day("minDate", dates.first or FIRST), _day("maxDate", dates.last or LAST)
    if first[0] > last[1]:
        raise InvalidInput(
            f"{dates.first} is after the last day, {dates.last}; exchange them", field="dateRange.minDate"
        )
    return f'("{dates.first or FIRST}"[{dates.kind}] : "{dates.last or LAST}"[{dates.kind}])'


def _day(name: str, text: str) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The first and the last day that `text` means. Raises `InvalidInput` for days that no calendar has."""
    if not re.fullmatch(r"\d{4}(/\d{2}(/\d{2})?)?", text, re.ASCII):
        raise InvalidInput(f"dateRange.{name}: {text!r} is not YYYY, YYYY/MM or YYYY/MM/DD")
    year, month, day = (*map(int, text.split("/")), None, None)[:3]
    if not year or year > int(LAST):
        raise InvalidInput(f"dateRange.{name}: PubMed has no year {text[:4]}; give 0001 to {LAST}")
    if month is None:
        return (year, 1, 1), (year, 12, 31)
    if not 1 <= month <= 12:
        raise InvalidInput(f"dateRange.{name}: {text!r} has no month {month:02}; months are 01 to 12")
    days = calendar.monthrange(year, month)[1]
    if day is None:
        return (year, month, 1), (year, month, days)
    if not 1 <= day <= days:
        raise InvalidInput(f"dateRange.{name}: {text!r} has no day {day:02}; that month has {days} days")
    return (year, month, day), (year, month, day)


def _type_clause(names: Sequence[str]) -> str | None:
    """A clause for any of the types; names lose quotation marks and brackets, which would end the field early."""
    clauses = [f'"{_type(name)}"[Publication Type]' for name in dict.fromkeys(names)]
    if not clauses:
        return None
    if len(clauses) > MOST_TYPES:
        raise InvalidInput(f"{len(clauses)} types; {MOST_TYPES} are the most", field="filterByPublicationTypes")
    return clauses[0] if len(clauses) == 1 else f"({' OR '.join(clauses)})"


def _type(name: str) -> str:
    """A publication type's name without quotes and brackets. Raises `InvalidInput` for an empty or long one."""
    plain = " ".join(re.sub(r'["\[\]]', " ", _CONTROL.sub(" ", name)).split())
    if not plain:
        raise InvalidInput(
            "a type has no name; PubMed's are like Review or Clinical Trial", field="filterByPublicationTypes"
        )
    if len(plain) > LONGEST_TYPE:
        raise InvalidInput(f"{plain[:40]!r}... is too long for a type's name", field="filterByPublicationTypes")
    return plain


def unknown_type_reasons(publication_types: Sequence[str], dropped: Sequence[str]) -> list[str]:
    """Why there are more hits than requested: publication types that PubMed does not know and dropped."""
    dropped_types = [term.lower() for term in dropped if "publication type" in term.lower()]
    unknown = [name for name in publication_types if any(_type(name).lower() in term for term in dropped_types)]
    return [f"PubMed knows no publication type {name!r}: the hits are not filtered by it" for name in unknown]


Style = Literal["xml", "medline"]
Headers = dict[str, tuple[str | None, RetractionStatus]]  # title and retraction status, by PMID
_RECORD = re.compile(r"<(PubmedArticle|PubmedBookArticle)(?:\s[^>]*)?>.*?</\1>", re.DOTALL)
_MEDLINE = re.compile(r"^PMID- ", re.MULTILINE)
_MEDLINE_PMID = re.compile(r"^PMID- *(\d+)", re.MULTILINE)
_MEDLINE_TITLE = re.compile(r"^(?:TI|BTI|TT) {1,2}- (.*(?:\n {6}.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Raw:
    """Records as NCBI prints them, with their headers in the order of the records in `text`."""

    style: Style
    text: str
    headers: Headers


def articles(pmids: Sequence[str], pubmed: Pubmed, deadline: Deadline) -> dict[str, Article]:
    """Fetch records: PMID -> article, in the order of `pmids`. Withdrawn and unknown PMIDs are absent.

    Raises NCBI's failures with a `status`: this fetch is the answer itself, so nothing partial is returned.
    """
    from bio_mcp.literature.medline import newest  # loads the XML parser, which the first call may not need

    with required():
        newest_records = newest(pubmed.efetch(pmids, deadline=deadline))
    return {pmid: record for pmid in pmids if isinstance(record := newest_records.get(pmid), Article)}


def raw(pmids: Sequence[str], style: Style, pubmed: Pubmed, deadline: Deadline) -> Raw:
    """Fetch the records exactly as NCBI sends them.

    Raises `NcbiUnreadable` when the MEDLINE text lacks a record that PubMed has, so that none is reported missing.
    """
    with required():
        text = pubmed.efetch_text(pmids, style=style, deadline=deadline)
        headers = _headers_from_xml(text) if style == "xml" else _headers_from_medline(text)
        missing = [pmid for pmid in pmids if pmid not in headers]
        if style == "medline" and missing and any(True for _ in pubmed.efetch(missing, deadline=deadline)):
            raise NcbiUnreadable("NCBI's MEDLINE text lacks records that PubMed has; try again")
    return Raw(style, text, headers)


def pieces(whole: Raw) -> list[str]:
    """Cut the text after each record: one piece a record, then the lines after the last.

    Raises `UpstreamFailed`, not retryable, when the cuts do not match the records.
    """
    text = whole.text
    if whole.style == "xml":
        ends = [record.end() for record in _RECORD.finditer(text)]
    else:
        ends = [*(record.start() for record in _MEDLINE.finditer(text)), len(text)][1:]
    if len(ends) != len(whole.headers):
        raise UpstreamFailed("these records are too long together; ask for fewer, or as abstract_plus", retryable=False)
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)])]


def _headers_from_xml(text: str) -> Headers:
    from bio_mcp.literature.medline import parse

    records = (record for record in parse(BytesIO(text.encode())) if isinstance(record, Article))
    return {record.pmid: (record.title, record.retraction) for record in records}


def _headers_from_medline(text: str) -> Headers:
    from bio_mcp.literature.medline.retraction_status import displayed_status

    headers: Headers = {}
    starts = [match.start() for match in _MEDLINE.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        record = text[start:end]
        if pmid := _MEDLINE_PMID.match(record):
            title = _MEDLINE_TITLE.search(record)
            headers[pmid[1]] = (" ".join(title[1].split()) if title else None, displayed_status(record))
    return headers


SPELLING_S = 5.0  # of the search's time, at most, for what is only a suggestion


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits of a search. `summaries` are those of the first hits.

    `spelling` is PubMed's spelling of a query with unknown words. `reasons` say what was requested and is missing.
    """

    page: SearchPage
    summaries: tuple[DocSummary, ...]
    spelling: str | None
    reasons: tuple[str, ...]


def search(
    term: str, words: str, pubmed: Pubmed, deadline: Deadline, *, retmax: int, sort: str, summaries: int
) -> SearchResult:
    """Search PubMed: PMIDs of the first hits, and summaries of the first of them.

    `term` is sent; `words` are the user's own part of it, without dates and filters. `sort` is PubMed's name of the
    order. A search that fails raises. Summaries that fail leave the PMIDs, and a reason.
    """
    with required():
        page = pubmed.esearch(term, deadline=deadline, retmax=retmax, sort=sort, history=summaries > 0)
    page = replace(page, ids=page.ids[:retmax])
    reasons: list[str] = []

    if term != words:
        missing = "PubMed left out words of the query, and whether it knows any of them could not be asked"
        nothing = "PubMed finds nothing by the words of the query; what matches the dates and types alone is left out"
        by_words = partial(pubmed.esearch, words, deadline=deadline, retmax=1)
        page = discard_unknown_words(page, lambda: optional(by_words, page, missing, reasons).count, nothing)
    known = Summaries((), {})
    if summaries and page.ids:
        missing = "the PMIDs are all there, their summaries are missing"
        many = min(summaries, len(page.ids))
        known = summarised(lambda: pubmed.summaries_of(page, many, deadline=deadline), missing, reasons)
    spelling = None
    if page.dropped or not page.count:
        share = deadline.share(SPELLING_S)
        spelling = optional(lambda: pubmed.espell(words, deadline=share), Spelling(words, None), "", []).corrected
    return SearchResult(page, known.found, spelling, tuple(reasons))


ScoreKind = Literal["relative", "order", "none"]
SCORING_S = 8.0  # of a call's time, at most, for scores: NCBI fails at them for the best-known papers
_NONE_KNOWN = {
    "pubmed_pubmed_refs": "PubMed knows the references of a part of its records only, so none here does not mean none",
    "pubmed_pubmed_citedin": "PubMed counts citations by articles in PubMed Central only; others may cite it",
    "pubmed_pubmed": "PubMed has not yet worked out similar articles for this record, or it has no abstract",
}


@dataclass(frozen=True, slots=True)
class Related:
    """Related articles.

    `links` are in NCBI's order, the first of `total`. `scores` maps a PMID to a similarity in [0, 1], where known.
    `score_kind` relative: scores are shares of the source's own; order: only the order counts; none: unordered.
    `command` is the ELink command that succeeded.
    """

    links: tuple[str, ...]
    total: int
    scores: dict[str, float]
    score_kind: ScoreKind
    command: str
    summaries: dict[str, DocSummary]
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]


def related(pmid: str, link_name: str, most: int, pubmed: Pubmed, deadline: Deadline) -> Related:
    """Find at most `most` related articles, the source excluded, with a summary of each and of the source.

    Raises `NotFound` for a PMID that PubMed does not have. Links that cannot be read fail the call; titles that cannot
    be read are a reason.
    """
    warnings: list[str] = []
    with required():
        links = _links(pmid, link_name, pubmed, deadline, warnings)
    others = [link for link in links if link.uid != pmid]
    shown = tuple(link.uid for link in others[:most])
    reasons: list[str] = []
    missing = "the PMIDs are right, their titles and authors are missing"
    known = summarised(lambda: pubmed.esummary([pmid, *shown], deadline=deadline), missing, reasons)
    if pmid in known.missing and not others:
        raise unknown_pmid(pmid)
    if not others:
        warnings.append(_NONE_KNOWN[link_name])
    scores = _scores(pmid, links)
    kind: ScoreKind = "relative" if scores else "order" if link_name == SIMILAR else "none"
    command = "neighbor_score" if scores else "neighbor"
    summaries = {summary.pmid: summary for summary in known.found}
    return Related(shown, len(others), scores, kind, command, summaries, tuple(reasons), tuple(warnings))


def unknown_pmid(pmid: str) -> NotFound:
    message = f"PubMed has no record {pmid}; look for it with searchPubMedArticles"
    return NotFound(message, pmid=pmid)


def _links(pmid: str, link_name: str, pubmed: Pubmed, deadline: Deadline, warnings: list[str]) -> tuple[Link, ...]:
    """ELink's answer. Similar articles come with scores if NCBI gives them within `SCORING_S`, else in its order."""
    if link_name == SIMILAR:
        try:
            share = deadline.share(min(SCORING_S, deadline.remaining / 3))
            [linked] = pubmed.elink([pmid], link_name=link_name, command="neighbor_score", deadline=share)
        except NcbiQueryRejected:
            raise
        except (UpstreamFailed, DeadlineExceeded):
            warnings.append("NCBI gave no scores this time; the articles are in its order, most similar first")
        else:
            return tuple(sorted(linked.links, key=lambda link: -(link.score or 0)))
    [linked] = pubmed.elink([pmid], link_name=link_name, command="neighbor", deadline=deadline)
    return linked.links


def _scores(pmid: str, links: tuple[Link, ...]) -> dict[str, float]:
    """Each raw score divided by the source's own, its similarity to itself; empty without that one."""
    own = next((link.score for link in links if link.uid == pmid), None)
    if not own:
        return {}
    return {link.uid: round(min(1.0, link.score / own), 4) for link in links if link.score is not None}
