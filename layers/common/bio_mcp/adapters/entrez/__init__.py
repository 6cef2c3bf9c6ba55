"""PubMed by NCBI's E-utilities: `Eutils` speaks to them over a `Wire`."""

from bio_mcp.adapters.entrez.client import Eutils
from bio_mcp.adapters.entrez.faults import AnswerTooLarge, BeyondReach, HistoryLost, KeyRejected, Refused
from bio_mcp.adapters.entrez.lookups import History
from bio_mcp.adapters.entrez.wire import Wire
from bio_mcp.pubmed import (
    CITED_IN,
    NCBI,
    REFERENCES,
    SIMILAR,
    Citation,
    CitationMatch,
    DocSummary,
    EntrezDatabase,
    Link,
    LinkSet,
    Spelling,
    Summaries,
)

__all__ = [
    "CITED_IN",
    "NCBI",
    "REFERENCES",
    "SIMILAR",
    "AnswerTooLarge",
    "BeyondReach",
    "Citation",
    "CitationMatch",
    "DocSummary",
    "EntrezDatabase",
    "Eutils",
    "History",
    "HistoryLost",
    "KeyRejected",
    "Link",
    "LinkSet",
    "Refused",
    "Spelling",
    "Summaries",
    "Wire",
]
