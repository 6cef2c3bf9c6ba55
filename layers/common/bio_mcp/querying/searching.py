"""Searching PubMed, and saying what was really searched."""

from dataclasses import dataclass, replace

from bio_mcp.deadline import Deadline
from bio_mcp.ports.pubmed import DocSummary, Pubmed, SearchPage, Spelling, Summaries
from bio_mcp.query_terms import discard_unknown_words
from bio_mcp.querying.partial import missing_summaries, optional, required

SPELLING_S = 5.0  # of the search's time, at most, for what is only a suggestion


@dataclass(frozen=True, slots=True)
class Found:
    """`summaries` are those of the first hits; `spelling` is how PubMed would spell a term that it left out.

    `reasons` say what is lacking though it was asked for, `warnings` what was not searched as asked.
    """

    page: SearchPage
    summaries: tuple[DocSummary, ...]
    spelling: str | None
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """`term` is asked; `words` are the user's own part of it. `sort` is PubMed's, `summaries` how many of `retmax`."""

    term: str
    words: str
    retmax: int
    sort: str
    summaries: int


def search(asked: Search, pubmed: Pubmed, deadline: Deadline) -> Found:
    """The first hits and the summaries of the first of them.

    A search that failed raises; summaries that failed leave the hits, and a reason.
    """
    many = asked.summaries
    with required():
        page = pubmed.esearch(asked.term, deadline=deadline, retmax=asked.retmax, sort=asked.sort, history=many > 0)
    page = replace(page, ids=page.ids[: asked.retmax])
    reasons: list[str] = []
    if asked.term != asked.words:
        nothing = "PubMed finds nothing by the words of the query; what matches the dates and types alone is left out"
        page = discard_unknown_words(page, lambda: _found_by_words(asked, page, pubmed, deadline, reasons), nothing)
    known = Summaries((), {})
    if many and page.ids:
        known = optional(
            lambda: pubmed.summaries_of(page, min(many, len(page.ids)), deadline=deadline),
            known,
            "the PMIDs are all there, their summaries are missing",
            reasons,
        )
    reasons += missing_summaries(known.missing)
    return Found(page, known.found, _spelling(asked.words, page, pubmed, deadline), tuple(reasons), page.warnings)


def _found_by_words(asked: Search, page: SearchPage, pubmed: Pubmed, deadline: Deadline, reasons: list[str]) -> int:
    """Hits of the user's own words; those of `page` where NCBI fails to say."""
    lacking = "PubMed left out words of the query, and whether it knows any of them could not be asked"
    return optional(lambda: pubmed.esearch(asked.words, deadline=deadline, retmax=1), page, lacking, reasons).count


def _spelling(words: str, page: SearchPage, pubmed: Pubmed, deadline: Deadline) -> str | None:
    """PubMed's spelling of the query, asked for where a word of it was left out or nothing was found."""
    if page.count and not page.dropped:
        return None
    unknown = Spelling(words, None)
    share = deadline.share(SPELLING_S)
    return optional(lambda: pubmed.espell(words, deadline=share), unknown, "no spelling", []).corrected
