"""The ports: what tools and workflows need from the world. Adapters provide them; nobody asks how.

Writes are idempotent unless a port says otherwise: the same call twice leaves what one call leaves. A write is
durable when the call returns. What a method raises stands with it or with its port.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from typing import Protocol
from uuid import UUID

from bio_mcp.health import Finding
from bio_mcp.ports.answers import Answers
from bio_mcp.ports.calls import Calls
from bio_mcp.ports.europe_pmc import EuropePmc
from bio_mcp.ports.graph import Graph
from bio_mcp.ports.indexes import Indexes, Models
from bio_mcp.ports.language_models import LanguageModel
from bio_mcp.ports.messages import Announcements, WorkQueue
from bio_mcp.ports.metrics import CitationMetrics
from bio_mcp.ports.multilingual import Multilingual
from bio_mcp.ports.ncbi import NcbiLookup
from bio_mcp.ports.news import News
from bio_mcp.ports.notices import Notices
from bio_mcp.ports.open_access import OpenAccess
from bio_mcp.ports.projects import Collections, Parser, ProjectDocuments, Projects
from bio_mcp.ports.pubmed import Entrez, Pubmed
from bio_mcp.ports.pubmed_files import PubmedFiles
from bio_mcp.ports.reranking import Reranker
from bio_mcp.ports.screening import Screenings
from bio_mcp.ports.sources import Sources
from bio_mcp.ports.state import Audit, Checkpoints, Jobs, Leases
from bio_mcp.ports.stores import Blobs, Documents, Embeddings, Passages
from bio_mcp.ports.workers import Workers
from bio_mcp.ports.zotero import ZoteroLibrary


class Backends(Protocol):
    """Every port, reached lazily: an attribute is made on first use, once per process, whatever thread asks."""

    @property
    def documents(self) -> Documents:
        """Articles by PMID."""
        ...

    @property
    def passages(self) -> Passages:
        """The search index."""
        ...

    @property
    def indexes(self) -> Indexes:
        """The index that `passages` is, and the one beside it while the corpus is embedded again."""
        ...

    @property
    def models(self) -> Models:
        """The embedding models of this process."""
        ...

    @property
    def multilingual(self) -> Multilingual | None:
        """A second index for questions in Thai; None unless `BIO_MCP_MULTILINGUAL` names a model."""
        ...

    @property
    def embeddings(self) -> Embeddings:
        """The model of the vectors of `passages`; before the first paper, the configured one."""
        ...

    def workers(self, count: int) -> AbstractContextManager[Workers]:
        """So many processes with that model, which end with the block."""
        ...

    @property
    def entrez(self) -> Entrez:
        """PubMed, never from a cache: for syncing."""
        ...

    @property
    def pubmed_files(self) -> PubmedFiles:
        """All of PubMed, as files."""
        ...

    @property
    def pubmed(self) -> Pubmed:
        """PubMed, from a cache unless `BIO_MCP_CACHE` is off: for live questions."""
        ...

    @property
    def lookup(self) -> NcbiLookup:
        """NCBI's other services, from the same cache."""
        ...

    @property
    def metrics(self) -> CitationMetrics:
        """NIH iCite, from the same cache. Raises `Misconfigured` where `BIO_MCP_SOURCES` leaves it out."""
        ...

    @property
    def notices(self) -> Notices:
        """Crossref, from the same cache. Raises `Misconfigured` where `BIO_MCP_SOURCES` leaves it out."""
        ...

    @property
    def europe_pmc(self) -> EuropePmc:
        """Europe PMC, from the same cache. Raises `Misconfigured` where `BIO_MCP_SOURCES` leaves it out."""
        ...

    @property
    def open_access(self) -> OpenAccess:
        """Unpaywall, from the same cache. Raises `Misconfigured` where it may not be asked, or without an e-mail."""
        ...

    @property
    def checkpoints(self) -> Checkpoints:
        """Watermarks of queries."""
        ...

    @property
    def news(self) -> News:
        """What became of the papers of each query."""
        ...

    @property
    def jobs(self) -> Jobs:
        """Long pieces of work."""
        ...

    @property
    def leases(self) -> Leases:
        """Who works on what."""
        ...

    @property
    def continuations(self) -> WorkQueue:
        """Tool calls to be made later. Tools send, doors receive."""
        ...

    @property
    def audit(self) -> Audit:
        """The log of changes made by hand."""
        ...

    @property
    def announcements(self) -> Announcements:
        """Listeners to changes of the corpus."""
        ...

    @property
    def blobs(self) -> Blobs:
        """Large files."""
        ...

    @property
    def projects(self) -> Projects:
        """Collections of literature that somebody works with."""
        ...

    @property
    def collections(self) -> Collections:
        """The projects' indexes."""
        ...

    @property
    def project_documents(self) -> ProjectDocuments:
        """What was read into each project."""
        ...

    @property
    def parser(self) -> Parser:
        """Reads the files of a project."""
        ...

    @property
    def sources(self) -> Sources:
        """Files that clients name."""
        ...

    @property
    def zotero(self) -> ZoteroLibrary:
        """The library of Zotero that the settings name."""
        ...

    @property
    def graph(self) -> Graph:
        """Herbs, constituents and indications."""
        ...

    @property
    def answers(self) -> Answers:
        """Answers that were given."""
        ...

    @property
    def screenings(self) -> Screenings:
        """What is screened for reviews, and the decisions."""
        ...

    @property
    def language_model(self) -> LanguageModel | None:
        """The model that writes answers; None: they are extracts."""
        ...

    @property
    def reranker(self) -> Reranker | None:
        """The model that orders the best hits anew; None: they stay as they are."""
        ...

    @property
    def calls(self) -> Calls:
        """Calls that can be replayed."""
        ...

    @property
    def answer_tau(self) -> float:
        """The least confidence of an answer that is given, 0 to 1."""
        ...

    @property
    def sync_max_records(self) -> int:
        """Records that PubMed may have for a new sync before it asks for confirmation; 0: it never asks."""
        ...

    @property
    def chunk_namespace(self) -> UUID:
        """The namespace of the public ids of chunks; it stays the same for as long as a corpus lives."""
        ...

    def scratch(self, name: str, model: Embeddings | None = None) -> "AbstractContextManager[Backends]":
        """Return a corpus apart from this one, in a file of this machine, with this one's models, for a block; `model`
        makes its vectors, by default this one's.

        It is empty, or as it was left under this name and by this model: what it holds may be lost at any time. It
        announces nothing, and its day is always the same, so that equal corpora rank equally. `name` is words of a-z,
        0-9 and - joined by -.
        """
        ...

    def checks(self) -> Sequence[Finding]:
        """Check the stores of this mode; one finding for each part, and none of them raises."""
        ...

    def upstreams(self) -> Sequence[Finding]:
        """Ask each configured service outside but NCBI's E-utilities; one finding each, and none of them raises."""
        ...

    def today(self) -> date:
        """Return the day it is at NCBI (US Eastern)."""
        ...

    def now(self) -> datetime:
        """Return the time it is, UTC."""
        ...
