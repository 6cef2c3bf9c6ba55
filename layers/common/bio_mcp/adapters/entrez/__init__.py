"""PubMed by NCBI's E-utilities: `Eutils` speaks to them over an `HttpTransport`."""

from bio_mcp.adapters.entrez.client import Eutils
from bio_mcp.adapters.entrez.errors import AnswerTooLarge, BeyondReach, ClientRejected, HistoryLost, KeyRejected
from bio_mcp.adapters.entrez.small_utilities import History
from bio_mcp.adapters.entrez.transport import HttpTransport
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
    "ClientRejected",
    "DocSummary",
    "EntrezDatabase",
    "Eutils",
    "History",
    "HistoryLost",
    "HttpTransport",
    "KeyRejected",
    "Link",
    "LinkSet",
    "Spelling",
    "Summaries",
]
