"""What one call sees of the backends: its tenant's own, noted where the call is recorded.

Papers, watermarks, syncs and the graph are everybody's; projects and all that comes of work with them are a tenant's.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from hashlib import sha256
from typing import Any, ClassVar, TypeVar, cast

from bio_mcp.callers import Caller, as_json
from bio_mcp.errors import Forbidden, NotFound
from bio_mcp.graph.nodes import Edge, Neighbours, Node, Step, without_documents
from bio_mcp.ports import Backends, BackendsOver, PortOver
from bio_mcp.ports.messages import Continuations
from bio_mcp.ports.projects import Project, Projects
from bio_mcp.ports.sources import Sources
from bio_mcp.ports.state import Audit, CallRecord, Calls, Job, Jobs
from bio_mcp.ports.stores import Answers, Blobs, Graph, ReviewPlan, Screenings, StoredAnswer
from bio_mcp.ports.zotero import ZoteroLibrary
from bio_mcp.recording import Reads
from bio_mcp.retrieval.project_chunks import unknown_project

T = TypeVar("T")

_KEY = re.compile(r"t[0-9a-f]{24}")
_ROUNDS = 5  # of asking for more, each time four times as many
_WEB = re.compile("https:", re.IGNORECASE)
NO_FILES = "source: tenants read documents from https addresses; files, buckets and Zotero are this installation's own"
NO_EDGES = "the graph is everybody's, and a tenant's documents are not: ingest them by ingest_from_source"
JOINT = "."  # between a tenant and the name of a collection, which may be a part of an address
SHARED_KINDS = frozenset({"sync", "withdrawals", "import"})  # of jobs that are of the corpus, which is everybody's
SHARED = frozenset(
    "documents passages indexes models embeddings entrez pubmed pubmed_files lookup metrics notices "
    "europe_pmc open_access checkpoints announcements parser language_model reranker answer_tau sync_max_records "
    "chunk_namespace workers scratch checks upstreams".split()
)
"""Ports that are the same for every tenant."""
LOOKED_UP = frozenset({"passages", "embeddings"})
"""Ports that are found again at each use, as what writes for hours takes up an index that was begun meanwhile."""


def of_all_tenants(backends: Backends) -> Backends:
    """The backends with the things of every tenant: for the upkeep of the corpus, whose answer no caller is given."""
    return cast(Backends, getattr(backends, "of_all_tenants", backends))


class CallBackends(BackendsOver):
    """The backends as the tenant of `caller` sees them in one call, or the installation's own where that is None.

    `local`: for the user of this machine, who may read its files into any tenant's projects. `trace` notes what is
    read. Each port is found once, and stands in this object from then on.
    """

    def __init__(
        self, backends: Backends, caller: Caller | None, *, local: bool = False, trace: Reads | None = None
    ) -> None:
        self.over, self.caller, self.local, self.trace = backends, caller, local, trace
        tenant = caller.tenant if caller else ""
        self.names, self.names_of_work = Names(tenant), Names(tenant, SHARED_KINDS)

    @property
    def of_all_tenants(self) -> Backends:
        return of_all_tenants(self.over)

    def find_port(self, name: str) -> Any:
        if name in OF_TENANT:
            port = OF_TENANT[name](self)
        elif name in SHARED:
            port = getattr(self.over, name)
        else:
            raise AttributeError(f"tenants share no {name}, and have none")
        if self.trace is not None:
            port = self.trace.noting(name, port)
        if name not in LOOKED_UP:
            self.__dict__[name] = port
        return port

    def today(self) -> date:
        day = self.over.today()
        if self.trace is not None:
            self.trace.day = day.isoformat()
        return day


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one tenant's things. Those of the installation's own, the tenant "", are stored as they are; those
    of any other begin with a hash of the tenant, so that no two tenants have one, whatever a client names. Those that
    begin with one of `shared` are the same for all."""

    tenant: str
    shared: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        """What the names of this tenant's things begin with; "" for the installation's own."""
        return f"t{sha256(self.tenant.encode()).hexdigest()[:24]}" if self.tenant else ""

    def stored(self, name: str, joint: str = ":") -> str:
        """The name in the store. Raises `NotFound` for one that only another tenant's thing can have."""
        if name.partition(joint)[0] in self.shared:
            return name
        if self.key:
            return f"{self.key}{joint}{name}"
        if is_foreign(name, joint):
            raise NotFound(f"There is no {name!r}")
        return name

    def own(self, stored: str, joint: str = ":") -> str | None:
        """The name by which the tenant knows it; None for another tenant's."""
        if stored.partition(joint)[0] in self.shared:
            return stored
        if self.key:
            begin = f"{self.key}{joint}"
            return stored.removeprefix(begin) if stored.startswith(begin) else None
        return None if is_foreign(stored, joint) else stored


def is_foreign(stored: str, joint: str) -> bool:
    """Whether a stored name begins with a tenant's hash."""
    key, found, _ = stored.partition(joint)
    return bool(found) and _KEY.fullmatch(key) is not None


def first(limit: int, fetch: Callable[[int], list[T]], own: Callable[[Iterable[T]], list[T]]) -> list[T]:
    """The first `limit` that are `own`, of a list of which `fetch` returns the beginning; fewer where a thousand times
    as many are others'."""
    for round_ in range(_ROUNDS):
        found = fetch(asked := limit * 4**round_)
        mine = own(found)
        if len(mine) >= limit or len(found) < asked:
            break
    return mine[:limit]


@dataclass
class FirstNamed:
    """A port each of whose methods takes first the name of what it is about: `stored` makes the name in the store of
    it."""

    _port: Any
    _stored: Callable[[str], str]

    def __getattr__(self, method: str) -> Callable[..., Any]:
        called = getattr(self._port, method)

        def call(name: str, *rest: Any, **named: Any) -> Any:
            return called(self._stored(name), *rest, **named)

        return call


@dataclass
class Records:
    """A port of records, without those of other tenants. `NAMED` has the fields with names, each with its joint."""

    port: Any
    names: Names
    NAMED: ClassVar[Mapping[str, str]]

    def get(self, name: str) -> Any:
        return self._own([self.port.get(self.names.stored(name))])[0]

    def _stored(self, record: Any) -> Any:
        return replace(record, **{of: self.names.stored(getattr(record, of), by) for of, by in self.NAMED.items()})

    def _own(self, records: Iterable[Any]) -> list[Any]:
        named = (
            (each, {of: self.names.own(getattr(each, of), by) for of, by in self.NAMED.items()}) for each in records
        )
        return [replace(each, **own) for each, own in named if None not in own.values()]


class TenantProjects(Records):
    """The port `Projects`."""

    NAMED: ClassVar = {"project_id": ":", "collection": JOINT}
    port: Projects

    def get(self, project_id: str) -> Project:
        try:
            found = self._own([self.port.get(self.names.stored(project_id))])
        except NotFound:
            found = []
        if not found:
            raise unknown_project(project_id, (each.project_id for each in self.all()))
        return cast(Project, found[0])

    def put(self, project: Project) -> None:
        self.port.put(self._stored(project))

    def all(self) -> list[Project]:
        return self._own(self.port.all())

    def delete(self, project_id: str) -> bool:
        return self.port.delete(self.names.stored(project_id))


class TenantAnswers(Records):
    """The port `Answers`, but for `flag`, which is of every tenant's."""

    NAMED: ClassVar = {"answer_id": ":"}
    port: Answers

    def put(self, answer: StoredAnswer) -> None:
        self.port.put(self._stored(answer))

    def citing(self, pmid: str) -> list[StoredAnswer]:
        return self._own(self.port.citing(pmid))

    def flagged(self, limit: int) -> list[StoredAnswer]:
        return first(limit, self.port.flagged, self._own)


class TenantCalls(Records):
    """The port `Calls`."""

    NAMED: ClassVar = {"correlation_id": ":"}
    port: Calls

    def record(self, call: CallRecord) -> None:
        self.port.record(self._stored(call))

    def latest(self, limit: int) -> list[CallRecord]:
        return first(limit, self.port.latest, self._own)


def stored_file(key: str, names: Names) -> str:
    """The stored key of a file; a tenant's files are in a folder of its own below each folder."""
    folder, _, name = key.rpartition("/")
    if any(is_foreign(f"{part}/", "/") for part in folder.split("/")):
        raise NotFound("there is no such file")
    return f"{folder}/{names.key}/{name}" if names.key else key


class TenantBlobs(FirstNamed):
    """The port `Blobs`."""

    _port: Blobs

    def put(self, folder: str, content: bytes, suffix: str = "") -> str:
        key = self._port.put(self._stored(f"{folder}/").rstrip("/"), content, suffix)
        return f"{folder}/{key.rpartition('/')[2]}"

    def drop(self, folder: str) -> None:
        self._port.drop(self._stored(f"{folder}/").rstrip("/"))

    def join(self, keys: Sequence[str]) -> str:
        key = self._port.join([self._stored(each) for each in keys])
        return f"{keys[0].rpartition('/')[0]}/{key.rpartition('/')[2]}"


class TenantScreenings(FirstNamed):
    """The port `Screenings`."""

    def __init__(self, port: Screenings, names: Names) -> None:
        super().__init__(port, names.stored)
        self._names = names

    def reviews(self) -> dict[str, ReviewPlan]:
        found = ((self._names.own(each), plan) for each, plan in self._port.reviews().items())
        return {name: plan for name, plan in found if name is not None}


class TenantJobs(Records):
    """The port `Jobs`; jobs of the corpus are everybody's."""

    NAMED: ClassVar = {"kind": ":"}
    port: Jobs

    def get(self, job_id: str) -> Job:
        if found := self._own([self.port.get(job_id)]):
            return cast(Job, found[0])
        raise NotFound(f"There is no job {job_id!r}")

    def put(self, job: Job) -> None:
        self.port.put(stored := self._stored(job))
        job.number = stored.number

    def is_cancelled(self, job_id: str) -> bool:
        return self.port.is_cancelled(job_id) and bool(self._own([self.port.get(job_id)]))

    def remove(self, job: Job) -> None:
        self.port.remove(self._stored(job))

    def latest(self, kind: str, query_key: str, term: str | None = None) -> Job | None:
        found = self.port.latest(self.names.stored(kind), query_key, term)
        return next(iter(self._own([found] if found else [])), None)

    def newest(self, kind: str, most: int) -> list[Job]:
        return self._own(self.port.newest(self.names.stored(kind), most))


@dataclass(eq=False, repr=False)
class TenantNews(PortOver):
    """The port `News`, whose readers are the tenant's; the news are everybody's."""

    names: Names

    def read_to(self, query_key: str, reader: str) -> str:
        position: str = self._over.read_to(query_key, self.names.stored(reader))
        return position

    def mark_read(self, query_key: str, reader: str, position: str) -> None:
        self._over.mark_read(query_key, self.names.stored(reader), position)


@dataclass
class CallersAudit:
    """The port `Audit`; who asked for a change is the caller, whoever forgets to say so."""

    port: Audit
    caller: Caller | None

    def record(self, action: str, subject: str, before: Any, after: Any, caller: str | None = None) -> None:
        asked = caller or (self.caller.subject if self.caller else None)
        self.port.record(action, subject, before, after, caller=asked)


@dataclass
class CallersQueue:
    """The port `Continuations`; what is sent is called on behalf of the caller."""

    port: Continuations
    caller: Caller | None

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        self.port.send({**event, "caller": as_json(self.caller)} if self.caller else event, delay_s)


@dataclass
class GraphForTenants:
    """The port `Graph`, read only, without what documents of projects state."""

    port: Graph
    ALIKE: ClassVar = frozenset({"nodes", "named", "names", "revision", "count"})

    def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:  # noqa: ARG002  the form of the port
        raise Forbidden(NO_EDGES)

    def neighbours(self, node_ids: Sequence[str], steps: Collection[Step], limit: int) -> dict[str, Neighbours]:
        found = self.port.neighbours(node_ids, steps, limit)
        public = {node_id: replace(each, edges=_vouched(each.edges)) for node_id, each in found.items()}
        return {node_id: each for node_id, each in public.items() if each.edges or each.left_out}

    def __getattr__(self, name: str) -> Any:
        if name not in self.ALIKE:
            raise AttributeError(name)
        return getattr(self.port, name)


def _vouched(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """The edges that something else than documents of projects states. Where these say so too, the evidence is left
    out, as it may be theirs."""
    public = ((each, without_documents(each.sources)) for each in edges)
    return tuple(
        each if sources == each.sources else replace(each, sources=sources, evidence=())
        for each, sources in public
        if sources
    )


@dataclass
class SourcesForTenants:
    """The port `Sources`, with addresses of the web alone, unless the user of this machine asks."""

    port: Sources

    def __getattr__(self, method: str) -> Callable[..., Any]:
        called = getattr(self.port, method)

        def call(source: str, *, local: bool) -> Any:
            if not (local or _WEB.match(source)):
                raise Forbidden(NO_FILES)
            return called(source, local=local)

        return call


def _zotero(own: CallBackends) -> ZoteroLibrary:
    if own.names.tenant and not own.local:
        raise Forbidden(NO_FILES)
    return own.over.zotero


OF_TENANT: Mapping[str, Callable[[CallBackends], object]] = {
    "projects": lambda own: TenantProjects(own.over.projects, own.names),
    "collections": lambda own: FirstNamed(own.over.collections, partial(own.names.stored, joint=JOINT)),
    "project_documents": lambda own: FirstNamed(own.over.project_documents, own.names.stored),
    "screenings": lambda own: TenantScreenings(own.over.screenings, own.names),
    "leases": lambda own: FirstNamed(own.over.leases, own.names_of_work.stored),
    "jobs": lambda own: TenantJobs(own.over.jobs, own.names_of_work),
    "news": lambda own: TenantNews(own.over.news, own.names),
    "audit": lambda own: CallersAudit(own.over.audit, own.caller),
    "continuations": lambda own: CallersQueue(own.over.continuations, own.caller),
    "answers": lambda own: TenantAnswers(own.over.answers, own.names),
    "calls": lambda own: TenantCalls(own.over.calls, own.names),
    "blobs": lambda own: TenantBlobs(own.over.blobs, partial(stored_file, names=own.names)),
    "graph": lambda own: GraphForTenants(own.over.graph) if own.names.tenant else own.over.graph,
    "sources": lambda own: SourcesForTenants(own.over.sources) if own.names.tenant else own.over.sources,
    "zotero": _zotero,
}
"""Ports of which a tenant has its own form."""
