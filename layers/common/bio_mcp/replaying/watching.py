"""Backends that note what a call reads from them."""

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import Any, cast

from bio_mcp.deadline import Deadline
from bio_mcp.errors import BudgetSpent, DeadlineExceeded, Failure, NotFound, UpstreamFailed
from bio_mcp.literature.records import Document
from bio_mcp.ports import Backends
from bio_mcp.ports.graph import Graph
from bio_mcp.ports.language_models import Generated, LanguageModel
from bio_mcp.ports.multilingual import Multilingual
from bio_mcp.ports.projects import Project, Projects
from bio_mcp.ports.stores import Documents, Passages
from bio_mcp.replaying.reads import Reads, multilingual_key, passages_key, search_key, sims_of
from bio_mcp.retrieval.passages import Candidate, Filters, PassageQuery, StoredChunk

ELSEWHERE = {"collections", "project_documents", "zotero", "pubmed", "lookup", "jobs", "checkpoints", "reranker"}
ELSEWHERE |= {"screenings"}


class Watched:
    """`Backends` over others. What they return is noted in `notes`, to be read when the call is over."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends
        self.notes = Notes()

    def __getattr__(self, name: str) -> Any:
        port = getattr(self._backends, name)
        if name in ELSEWHERE and port is not None:
            self.notes.elsewhere.add(name)
        if name == "graph" and self.notes.graph is None:
            self._note_graph(port)
        noting = _NOTING.get(name)
        return noting(port, self.notes) if noting and port is not None else port

    def _note_graph(self, graph: Graph) -> None:
        """Note the state of the graph, if it can be had: a call never fails for being recorded."""
        try:
            self.notes.graph = graph.revision()
        except Failure:
            self.notes.elsewhere.add("graph")

    def today(self) -> date:
        """Return the day, and note it."""
        day = self._backends.today()
        self.notes.day = day.isoformat()
        return day

    @property
    def backends(self) -> Backends:
        """This object, as what it stands for."""
        return cast(Backends, self)


class Notes:
    """What was returned, by reference: nothing is computed while the call runs."""

    def __init__(self) -> None:
        self.day: str | None = None
        self.searches: list[tuple[Callable[[], str], list[Candidate]]] = []
        self.passages: list[tuple[Sequence[str], bool, dict[str, list[StoredChunk]]]] = []
        self.papers: dict[str, tuple[int, int] | None] = {}
        self.resolved: dict[str, str | None] = {}
        self.counts: list[tuple[int, int]] = []
        self.generated: list[tuple[bool, str]] | None = None
        self.graph: str | None = None
        self.elsewhere: set[str] = set()

    def reads(self) -> Reads:
        """The notes as what is recorded; some milliseconds."""
        return Reads(
            self.day,
            [(key(), found) for key, found in self.searches],
            [(passages_key(pmids, scored=scored), sims_of(found)) for pmids, scored, found in self.passages],
            self.papers,
            self.resolved,
            self.counts,
            self.generated,
            self.graph,
            self.elsewhere,
        )


class _Noting:
    """A port of which some methods note what they return; the others are its own."""

    def __init__(self, port: Any, notes: Notes) -> None:
        self._port, self._notes = port, notes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


class _Passages(_Noting):
    _port: Passages

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        found = self._port.hybrid_search(query)
        self._notes.searches.append((partial(search_key, query), found))
        return found

    def chunks(self, pmids: Sequence[str], vector: Any = None) -> dict[str, list[StoredChunk]]:
        found = self._port.chunks(pmids, vector)
        self._notes.passages.append((pmids, vector is not None, found))
        return found

    def count(self) -> tuple[int, int]:
        counted = self._port.count()
        self._notes.counts.append(counted)
        return counted


class _Documents(_Noting):
    _port: Documents

    def get(self, pmid: str) -> Document:
        try:
            document = self._port.get(pmid)
        except NotFound:
            self._notes.papers[pmid] = None
            raise
        self._notes.papers[pmid] = (document.version, document.indexed_version)
        return document

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        found = self._port.get_many(pmids)
        self._notes.papers |= dict.fromkeys(pmids) | {
            pmid: (each.version, each.indexed_version) for pmid, each in found.items()
        }
        return found

    def resolve(self, identifiers: Sequence[str]) -> dict[str, str]:
        found = self._port.resolve(identifiers)
        self._notes.resolved |= dict.fromkeys(identifiers) | found
        return found


class _Multilingual(_Noting):
    _port: Multilingual

    def search(self, text: str, filters: Filters, depth: int) -> list[Candidate]:
        found = self._port.search(text, filters, depth)
        self._notes.searches.append((partial(multilingual_key, text, filters, depth), found))
        return found


class _Projects(_Noting):
    """Where there are projects, what is read of them is not recorded."""

    _port: Projects

    def all(self) -> list[Project]:
        found = self._port.all()
        if found:
            self._notes.elsewhere.add("projects")
        return found

    def __getattr__(self, name: str) -> Any:
        self._notes.elsewhere.add("projects")
        return super().__getattr__(name)


class _LanguageModel(_Noting):
    _port: LanguageModel

    def __init__(self, port: LanguageModel, notes: Notes) -> None:
        super().__init__(port, notes)
        self._written = notes.generated = notes.generated or []

    def generate(self, question: str, passages: Sequence[str], deadline: Deadline) -> Generated:
        try:
            generated = self._port.generate(question, passages, deadline)
        except (BudgetSpent, UpstreamFailed, DeadlineExceeded) as failure:
            self._written.append((False, str(failure)))
            raise
        self._written.append((True, generated.text))
        return generated


_NOTING = {
    "passages": _Passages,
    "documents": _Documents,
    "language_model": _LanguageModel,
    "multilingual": _Multilingual,
    "projects": _Projects,
}
