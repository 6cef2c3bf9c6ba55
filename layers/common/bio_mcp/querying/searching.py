"""Search PubMed, and report the term that was searched."""

from dataclasses import dataclass, replace

from bio_mcp.deadline import Deadline
from bio_mcp.ports.pubmed import DocSummary, Pubmed, SearchPage, Spelling, Summaries
from bio_mcp.query_terms import discard_unknown_words
from bio_mcp.querying.partial import missing_summaries, optional, required

SPELLING_S = 5.0  # of the search's time, at most, for what is only a suggestion


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits of a search. `summaries` are those of the first hits.

    `spelling` is PubMed's spelling of a query with unknown words. `reasons` say what was requested and is missing,
    `warnings` what was searched in another way than requested.
    """

    page: SearchPage
    summaries: tuple[DocSummary, ...]
    spelling: str | None
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """A search request. `term` is sent to PubMed; `words` are the user's own part of it, without dates and filters.

    `sort` is PubMed's name of the order; the first `summaries` of `retmax` hits are summarised.
    """

    term: str
    words: str
    retmax: int
    sort: str
    summaries: int


def search(query: Search, pubmed: Pubmed, deadline: Deadline) -> SearchResult:
    """Search PubMed: PMIDs of the first hits, and summaries of the first of them.

    A search that fails raises. Summaries that fail leave the PMIDs, and a reason.
    """
    many = query.summaries
    with required():
        page = pubmed.esearch(query.term, deadline=deadline, retmax=query.retmax, sort=query.sort, history=many > 0)
    page = replace(page, ids=page.ids[: query.retmax])
    reasons: list[str] = []
    if query.term != query.words:
        nothing = "PubMed finds nothing by the words of the query; what matches the dates and types alone is left out"
        page = discard_unknown_words(page, lambda: _found_by_words(query, page, pubmed, deadline, reasons), nothing)
    known = Summaries((), {})
    if many and page.ids:
        known = optional(
            lambda: pubmed.summaries_of(page, min(many, len(page.ids)), deadline=deadline),
            known,
            "the PMIDs are all there, their summaries are missing",
            reasons,
        )
    reasons += missing_summaries(known.missing)
    return SearchResult(
        page, known.found, _spelling(query.words, page, pubmed, deadline), tuple(reasons), page.warnings
    )


def _found_by_words(query: Search, page: SearchPage, pubmed: Pubmed, deadline: Deadline, reasons: list[str]) -> int:
    """Number of hits of the user's own words; that of `page` where NCBI cannot say."""
    missing = "PubMed left out words of the query, and whether it knows any of them could not be asked"
    return optional(lambda: pubmed.esearch(query.words, deadline=deadline, retmax=1), page, missing, reasons).count


def _spelling(words: str, page: SearchPage, pubmed: Pubmed, deadline: Deadline) -> str | None:
    """PubMed's spelling of the query; asked only where a word was dropped or nothing was found."""
    if page.count and not page.dropped:
        return None
    unknown = Spelling(words, None)
    share = deadline.share(SPELLING_S)
    return optional(lambda: pubmed.espell(words, deadline=share), unknown, "no spelling", []).corrected
