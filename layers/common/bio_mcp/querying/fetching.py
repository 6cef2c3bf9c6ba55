"""Fetch records from PubMed, and name the PMIDs that PubMed does not have."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from typing import Literal

from bio_mcp.deadline import Deadline
from bio_mcp.errors import NcbiUnreadable, UpstreamFailed
from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.ports.pubmed import Pubmed
from bio_mcp.querying.partial import required

Style = Literal["xml", "medline"]
Headers = tuple[dict[str, str | None], dict[str, RetractionStatus]]  # titles and retraction status, by PMID
_RECORD = re.compile(r"<(PubmedArticle|PubmedBookArticle)(?:\s[^>]*)?>.*?</\1>", re.DOTALL)
_MEDLINE = re.compile(r"^PMID- ", re.MULTILINE)
_MEDLINE_PMID = re.compile(r"^PMID- *(\d+)", re.MULTILINE)
_MEDLINE_TITLE = re.compile(r"^(?:TI|BTI|TT) {1,2}- (.*(?:\n {6}.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Raw:
    """Records as NCBI prints them.

    `titles` and `retractions` are keyed by PMID, in the order of the records in `text`.
    """

    style: Style
    text: str
    titles: dict[str, str | None]
    retractions: dict[str, RetractionStatus]


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
        titles, retractions = _headers_from_xml(text) if style == "xml" else _headers_from_medline(text)
        missing = [pmid for pmid in pmids if pmid not in titles]
        if style == "medline" and missing and any(True for _ in pubmed.efetch(missing, deadline=deadline)):
            raise NcbiUnreadable("NCBI's MEDLINE text lacks records that PubMed has; try again")
    return Raw(style, text, titles, retractions)


def pieces(whole: Raw) -> list[str]:
    """Cut the text after each record: one piece a record, then the lines after the last.

    Raises `UpstreamFailed`, not retryable, when the cuts do not match the records.
    """
    text = whole.text
    ends = _ends_of_xml(text) if whole.style == "xml" else _ends_of_medline(text)
    if len(ends) != len(whole.titles):
        raise UpstreamFailed("these records are too long together; ask for fewer, or as abstract_plus", retryable=False)
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)])]


def _headers_from_xml(text: str) -> Headers:
    from bio_mcp.literature.medline import parse

    records = [record for record in parse(BytesIO(text.encode())) if isinstance(record, Article)]
    return {record.pmid: record.title for record in records}, {record.pmid: record.retraction for record in records}


def _headers_from_medline(text: str) -> Headers:
    from bio_mcp.literature.medline.display import displayed_status

    starts = [match.start() for match in _MEDLINE.finditer(text)]
    records = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    by_pmid = {pmid[1]: record for record in records if (pmid := _MEDLINE_PMID.match(record))}
    titles = {pmid: _title(record) for pmid, record in by_pmid.items()}
    return titles, {pmid: displayed_status(record) for pmid, record in by_pmid.items()}


def _title(record: str) -> str | None:
    title = _MEDLINE_TITLE.search(record)
    return " ".join(title[1].split()) if title else None


def _ends_of_xml(text: str) -> list[int]:
    return [record.end() for record in _RECORD.finditer(text)]


def _ends_of_medline(text: str) -> list[int]:
    starts = [match.start() for match in _MEDLINE.finditer(text)]
    return [*starts[1:], len(text)]
