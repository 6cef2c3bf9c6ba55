"""Notices about a work, in the words of each style: retraction, expression of concern, correction."""

import re
from collections.abc import Iterator

from bio_mcp.literature.citing import pages
from bio_mcp.literature.citing.works import Work
from bio_mcp.literature.records import Correction

# In the order in which a reader must know of them.
_KINDS = {
    "RetractionIn": "Retraction in",
    "PartialRetractionIn": "Partial retraction in",
    "RetractedandRepublishedIn": "Retracted and republished in",
    "RetractionOf": "Retraction of",
    "PartialRetractionOf": "Partial retraction of",
    "ExpressionOfConcernIn": "Expression of concern in",
    "ExpressionOfConcernFor": "Expression of concern for",
    "CorrectedandRepublishedIn": "Corrected and republished in",
    "RepublishedIn": "Corrected and republished in",
    "ErratumIn": "Erratum in",
    "ErratumFor": "Erratum for",
}
_RETRACTING = ("RetractionIn", "PartialRetractionIn", "RetractedandRepublishedIn")
_SOURCE = re.compile(
    r"(?:.*\.\s+)?(?P<journal>[^.]+?)\.?\s+(?P<year>(?:1[89]|2[01])\d\d)(?:[^;:.]*)"
    r"(?:;(?P<volume>[^(:;]+)?(?:\((?P<issue>[^)]*)\))?(?::(?P<pages>[\w.\- ]+?))?)?(?:[.;].*)?"
)


def nlm(work: Work) -> Iterator[str]:
    """`Retraction in: Lancet. 2010 Feb 6;375(9713):445.`, one for each notice, the gravest first."""
    for kind, label in _KINDS.items():
        for correction in work.article.corrections:
            if correction.kind == kind:
                yield f"{label}: {_cited(correction)}"


def notes(work: Work) -> list[str]:
    """Notes for reference managers: retraction, notices, an incomplete author list."""
    lines = ["Retracted publication."] if work.retracted else []
    lines += nlm(work)
    if not work.article.authors_complete:
        lines.append("PubMed's list of authors is incomplete.")
    return lines


def apa_retraction(work: Work) -> str:
    """`(Retraction published 2010, Lancet, 375[9713], 445)`, APA's note on a retracted work; "" without a source.

    A source that cannot be taken apart is quoted whole.
    """
    for correction in work.article.corrections:
        if correction.kind in _RETRACTING and correction.citation:
            match = _SOURCE.fullmatch(correction.citation.strip())
            if not match:
                return f"(Retraction published in {correction.citation.strip().rstrip('.')})"
            volume, issue = (match["volume"] or "").strip(), match["issue"]
            numbered = f"{volume}[{issue}]" if issue else volume
            parts = (
                f"Retraction published {match['year']}",
                match["journal"],
                numbered,
                pages.full(match["pages"], "–"),
            )
            return f"({', '.join(filter(None, parts))})"
    return ""


def _cited(correction: Correction) -> str:
    text = (correction.citation or "").strip().rstrip(".")
    pmid = f" PMID: {correction.pmid}." if correction.pmid else ""
    return f"{text}.{pmid}" if text else (pmid.strip() or "source not stated.")
