"""Retraction statuses of papers that another service than PubMed names."""

from collections.abc import Iterable

from bio_mcp.deadline import Deadline
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports.pubmed import Pubmed, Summaries
from bio_mcp.querying.partial import optional

MISSING = "whether the {papers} retracted could not be read"


def retraction_statuses(
    pmids: Iterable[str | None], pubmed: Pubmed, deadline: Deadline, reasons: list[str]
) -> dict[str | None, RetractionStatus]:
    """The statuses by PMID, from PubMed; absent for papers that it has no summary of, and for None.

    Empty when the summaries fail; `reasons` then says so.
    """
    known = list(dict.fromkeys(each for each in pmids if each))
    if not known:
        return {}
    missing = MISSING.format(papers="article was" if len(known) == 1 else "papers were")
    found = optional(lambda: pubmed.esummary(known, deadline=deadline), Summaries((), {}), missing, reasons).found
    return {each.pmid: each.retraction for each in found}
