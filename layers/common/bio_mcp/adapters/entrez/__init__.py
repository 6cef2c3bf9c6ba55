"""PubMed by NCBI's E-utilities: `Eutils` speaks to them over a `Wire`."""

from bio_mcp.adapters.entrez.client import Eutils
from bio_mcp.adapters.entrez.faults import AnswerTooLarge, BeyondReach, HistoryLost, KeyRejected, Refused
from bio_mcp.adapters.entrez.links import CITED_IN, REFERENCES, SIMILAR, Link, LinkSet
from bio_mcp.adapters.entrez.lookups import Citation, CitationMatch, EntrezDatabase, History, Spelling
from bio_mcp.adapters.entrez.summaries import DocSummary, Summaries
from bio_mcp.adapters.entrez.wire import NCBI, Wire

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
