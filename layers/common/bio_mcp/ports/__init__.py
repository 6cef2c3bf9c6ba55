"""The ports: what tools and workflows need from the world. Adapters provide them; nobody asks how.

Writes are idempotent unless a port says otherwise: the same call twice leaves what one call leaves. A write is
durable when the call returns. What a method raises stands with it or with its port.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from bio_mcp.health import Finding
from bio_mcp.literature.clock import EASTERN, utc_now
from bio_mcp.ports.messages import Announcements, DeadLetters, Workers, WorkQueue
from bio_mcp.ports.models import Indexes, LanguageModel, Models, Reranker
from bio_mcp.ports.ncbi import Entrez, NcbiLookup, Pubmed, PubmedFiles
from bio_mcp.ports.projects import Collections, Parser, ProjectDocuments, Projects
from bio_mcp.ports.scholarly import CitationMetrics, EuropePmc, Notices, OpenAccess
from bio_mcp.ports.sources import Sources
from bio_mcp.ports.state import (
    Audit,
    Authorizations,
    Budgets,
    Calls,
    Checkpoints,
    Jobs,
    Leases,
    LoadFiles,
    LoadRuns,
    News,
    Recorder,
)
from bio_mcp.ports.stores import Answers, Blobs, Documents, Embeddings, Graph, Passages, Screenings
from bio_mcp.ports.zotero import ZoteroLibrary

T = TypeVar("T")


class port(Generic[T]):  # noqa: N801  it declares an attribute, as `property` does
    """An attribute of backends that `Backends.find_port` finds, unless the object or its class has its own."""

    def __init__(self, meaning: str) -> None:
        self.__doc__ = meaning

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: "Backends | None", owner: type) -> T:
        if instance is None:
            return self  # type: ignore[return-value]  # the port of a class is its declaration
        made: T = instance.find_port(self._name)
        return made


class Backends:
    """Every port. Those of a mode are made on first use, once per process, whatever thread asks."""

    documents = port[Documents]("Articles by PMID.")
    passages = port[Passages]("The search index.")
    indexes = port[Indexes]("The index that `passages` is, and the one beside it while the corpus is embedded again.")
    models = port[Models]("The embedding models of this process.")
    embeddings = port[Embeddings]("The model of the vectors of `passages`; before the first paper, the configured one.")
    entrez = port[Entrez]("PubMed, never from a cache: for syncing.")
    pubmed_files = port[PubmedFiles]("All of PubMed, as files.")
    pubmed = port[Pubmed]("PubMed, from a cache unless `BIO_MCP_CACHE` is off: for live questions.")
    lookup = port[NcbiLookup]("NCBI's other services, from the same cache.")
    metrics = port[CitationMetrics](
        "NIH iCite, from the same cache. Raises `Misconfigured` where `BIO_MCP_SOURCES` leaves it out."
    )
    notices = port[Notices](
        "Crossref, from the same cache. Raises `Misconfigured` where `BIO_MCP_SOURCES` leaves it out."
    )
    europe_pmc = port[EuropePmc](
        "Europe PMC, from the same cache. Raises `Misconfigured` where `BIO_MCP_SOURCES` leaves it out."
    )
    open_access = port[OpenAccess](
        "Unpaywall, from the same cache. Raises `Misconfigured` where it may not be asked, or without an e-mail."
    )
    checkpoints = port[Checkpoints]("Watermarks of queries.")
    news = port[News]("What became of the papers of each query.")
    jobs = port[Jobs]("Long pieces of work.")
    leases = port[Leases]("Who works on what.")
    continuations = port[WorkQueue]("Tool calls to be made later. Tools send, doors receive.")
    audit = port[Audit]("The log of changes made by hand.")
    announcements = port[Announcements]("Listeners to changes of the corpus.")
    blobs = port[Blobs]("Large files.")
    projects = port[Projects]("Collections of literature that somebody works with.")
    collections = port[Collections]("The projects' indexes.")
    project_documents = port[ProjectDocuments]("What was read into each project.")
    parser = port[Parser]("Reads the files of a project.")
    sources = port[Sources]("Files that clients name.")
    zotero = port[ZoteroLibrary]("The library of Zotero that the settings name.")
    graph = port[Graph]("Herbs, constituents and indications.")
    answers = port[Answers]("Answers that were given.")
    screenings = port[Screenings]("What is screened for reviews, and the decisions.")
    language_model = port[LanguageModel | None]("The model that writes answers; None: they are extracts.")
    reranker = port[Reranker | None]("The model that orders the best hits anew; None: they stay as they are.")
    calls = port[Calls]("Calls that can be replayed.")
    answer_tau = port[float]("The least confidence of an answer that is given, 0 to 1.")
    sync_max_records = port[int](
        "Records that PubMed may have for a new sync before it asks for confirmation; 0: it never asks."
    )
    chunk_namespace = port[UUID](
        "The namespace of the public ids of chunks; it stays the same for as long as a corpus lives."
    )

    workers = port[Callable[[int], AbstractContextManager[Workers]]](
        "Starts so many processes with the model of the index, which end with the block."
    )
    scratch = port["Callable[..., AbstractContextManager[Backends]]"](
        """Opens a corpus apart from this one, by `(name, model=None)`: in a file of this machine, with this one's
        models, for a block; `model` makes its vectors, by default this one's.

        It is empty, or as it was left under this name and by this model: what it holds may be lost at any time. It
        announces nothing, and its day is always the same, so that equal corpora rank equally. `name` is words of a-z,
        0-9 and - joined by -."""
    )
    checks = port[Callable[[], Sequence[Finding]]](
        "Checks the stores of this mode; one finding for each part, and none of them raises."
    )
    upstreams = port[Callable[[], Sequence[Finding]]](
        "Asks each configured service outside but NCBI's E-utilities; one finding each, and none of them raises."
    )

    def find_port(self, name: str) -> Any:
        """Make or find the port; what it stores in the `__dict__` of this object is found there from then on."""
        raise NotImplementedError

    def today(self) -> date:
        """Return the day it is at NCBI (US Eastern)."""
        return datetime.now(EASTERN).date()

    def now(self) -> datetime:
        """Return the time it is, UTC."""
        return utc_now()


class BackendsOver(Backends):
    """Other backends, but for the ports in `own` and what a subclass has of its own."""

    def __init__(self, backends: Backends, **own: Any) -> None:
        self.over = backends
        self.__dict__ |= own

    @property
    def of_all_tenants(self) -> Backends:
        """Those with the things of every tenant, where the others are one tenant's."""
        return getattr(self.over, "of_all_tenants", self)

    def find_port(self, name: str) -> Any:
        return getattr(self.over, name)

    def today(self) -> date:
        return self.over.today()

    def now(self) -> datetime:
        return self.over.now()


@dataclass(eq=False, repr=False)
class PortOver:
    """A port over another, of which some methods are its own; the others are the other's."""

    _over: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self._over, name)


class OpenBackends(Backends):
    """The backends of a process, with what its doors use besides, and which it closes at its end."""

    authorizations = port[Authorizations]("Who is signed in, and what clients were granted.")
    budgets = port[Budgets]("What callers and tenants have used.")
    limits = port[Any]("What callers may use, a `scope.Limits`; None: nothing is limited.")
    recorder = port[Recorder | None]("Records calls; None: none is stored.")
    dead_letters = port[DeadLetters]("Queued calls that were given up.")
    load_files = port[LoadFiles]("The files of bulk loads. Raises `Misconfigured` where there are none.")
    load_runs = port[LoadRuns]("The runs of bulk loads. Raises `Misconfigured` where there are none.")

    def close(self) -> None:
        """Close files and connections; nothing may be used after it."""
        raise NotImplementedError
