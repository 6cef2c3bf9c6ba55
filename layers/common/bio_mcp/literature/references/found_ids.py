"""Identifiers in running text."""

import re
from dataclasses import dataclass

_DOI = re.compile(
    r"(?:(?:https?://)?(?:dx\.|www\.)?doi\.org/|\bdoi[:\s]\s*)*(10\.\d{4,9}(?:\.\d+)*/[^\s\"<>]+)", re.IGNORECASE
)
_PMID = re.compile(
    r"(?:\bPMID\b:?\s*|(?:https?://)?(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/)(\d{1,9})\b/?",
    re.IGNORECASE,
)
_PMCID = re.compile(
    r"(?:\bPMCID\b:?\s*|(?:https?://)?(?:www\.)?(?:pmc\.)?ncbi\.nlm\.nih\.gov/(?:pmc/)?articles/)?\b(PMC\d{1,9})\b/?",
    re.IGNORECASE,
)
_URL = re.compile(r"<?https?://[^\s<>]+>?", re.IGNORECASE)
_TRAILING = ".,;:'’”\"*"


@dataclass(frozen=True, slots=True)
class FoundIds:
    """The first id of each kind, the address of a page, and the text without them."""

    doi: str
    pmid: str
    pmcid: str
    url: str
    rest: str


def ids_in(text: str) -> FoundIds:
    """Find the ids in `text`. Points and brackets after a DOI that belong to the sentence are left out of it."""
    doi, rest = _taken(_DOI, text)
    pmid, rest = _taken(_PMID, rest)
    pmcid, rest = _taken(_PMCID, rest)
    url = _URL.search(rest)
    return FoundIds(_bare(doi), pmid, pmcid, url[0].strip("<>") if url else "", _URL.sub(" ", rest))


def _taken(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    found = pattern.search(text)
    return (found[1] if found else "", pattern.sub(" ", text) if found else text)


def _bare(doi: str) -> str:
    doi = doi.rstrip(_TRAILING)
    for opened, closed in ("()", "[]", "{}"):
        while doi.endswith(closed) and doi.count(closed) > doi.count(opened):
            doi = doi[:-1].rstrip(_TRAILING)
    return doi
