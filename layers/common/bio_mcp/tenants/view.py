"""The backends as one tenant sees them."""

from functools import partial
from typing import Any, cast

from bio_mcp.callers import Caller
from bio_mcp.errors import Forbidden
from bio_mcp.ports import Backends
from bio_mcp.ports.answers import Answers
from bio_mcp.ports.calls import Calls
from bio_mcp.ports.graph import Graph
from bio_mcp.ports.messages import WorkQueue
from bio_mcp.ports.projects import Collections, ProjectDocuments, Projects
from bio_mcp.ports.screening import Screenings
from bio_mcp.ports.sources import Sources
from bio_mcp.ports.state import Audit, Jobs, Leases
from bio_mcp.ports.stores import Blobs
from bio_mcp.ports.zotero import ZoteroLibrary
from bio_mcp.tenants.commons import NO_FILES, GraphForTenants, SourcesForTenants
from bio_mcp.tenants.names import Names
from bio_mcp.tenants.projects import JOINT, FirstNamed, TenantProjects
from bio_mcp.tenants.records import TenantAnswers, TenantBlobs, TenantCalls
from bio_mcp.tenants.work import CallersAudit, CallersQueue, TenantJobs, stored_work

SHARED = frozenset(
    "documents passages indexes models multilingual embeddings entrez pubmed pubmed_files lookup metrics notices "
    "europe_pmc open_access checkpoints news announcements parser language_model reranker answer_tau sync_max_records "
    "chunk_namespace scratch checks upstreams today now workers".split()
)
"""What of `Backends` is the same for every tenant."""


def view(backends: Backends, caller: Caller | None, *, local: bool = False) -> Backends:
    """The backends as the tenant of `caller` sees them, or the installation's own where that is None.

    `local`: for the user of this machine, who may read its files into any tenant's projects.
    """
    return cast(Backends, _View(backends, caller, local=local))


def of_all_tenants(backends: Backends) -> Backends:
    """The backends with the things of every tenant: for the upkeep of the corpus, whose answer no caller is given."""
    return cast(Backends, getattr(backends, "of_all_tenants", backends))


def stored_name(backends: Backends, name: str) -> str:
    """The name in the store of what a tenant's `view` calls `name`."""
    return backends.names.stored(name) if isinstance(backends, _View) else name


class _View:
    def __init__(self, backends: Backends, caller: Caller | None, *, local: bool) -> None:
        self._backends, self._caller, self._local = backends, caller, local
        self.names = Names(caller.tenant if caller else "")
        self.of_all_tenants = of_all_tenants(backends)

    def __getattr__(self, name: str) -> Any:
        if name not in SHARED:
            raise AttributeError(f"tenants share no {name}, and have none")
        return getattr(self._backends, name)

    @property
    def projects(self) -> Projects:
        return TenantProjects(self._backends.projects, self.names)

    @property
    def collections(self) -> Collections:
        named = partial(self.names.stored, joint=JOINT)
        return cast(Collections, FirstNamed(self._backends.collections, named))

    @property
    def project_documents(self) -> ProjectDocuments:
        return cast(ProjectDocuments, FirstNamed(self._backends.project_documents, self.names.stored))

    @property
    def leases(self) -> Leases:
        return cast(Leases, FirstNamed(self._backends.leases, partial(stored_work, names=self.names)))

    @property
    def jobs(self) -> Jobs:
        return TenantJobs(self._backends.jobs, self.names)

    @property
    def audit(self) -> Audit:
        return CallersAudit(self._backends.audit, self._caller)

    @property
    def continuations(self) -> WorkQueue:
        return cast(WorkQueue, CallersQueue(self._backends.continuations, self._caller))

    @property
    def answers(self) -> Answers:
        return TenantAnswers(self._backends.answers, self.names)

    @property
    def screenings(self) -> Screenings:
        return cast(Screenings, FirstNamed(self._backends.screenings, self.names.stored))

    @property
    def calls(self) -> Calls:
        return TenantCalls(self._backends.calls, self.names)

    @property
    def blobs(self) -> Blobs:
        return TenantBlobs(self._backends.blobs, self.names)

    @property
    def graph(self) -> Graph:
        return GraphForTenants(self._backends.graph) if self.names.tenant else self._backends.graph

    @property
    def sources(self) -> Sources:
        return SourcesForTenants(self._backends.sources) if self.names.tenant else self._backends.sources

    @property
    def zotero(self) -> ZoteroLibrary:
        if self.names.tenant and not self._local:
            raise Forbidden(NO_FILES)
        return self._backends.zotero
