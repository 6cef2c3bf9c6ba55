"""What a call was given by the stores: noted while it runs, recorded after its answer, to be replayed.

A paper is a PMID and a version, whose text the store still has; a passage is its id and cosine, whose text follows from
the paper's. A search is recorded by what was asked but for the vector, which only orders what is recorded.
"""

import json
import logging
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from queue import Full, Queue
from threading import Lock, Thread
from typing import Any

from pydantic_core import to_json

from bio_mcp.deadline import Deadline
from bio_mcp.errors import BudgetSpent, DeadlineExceeded, Failure, NotFound, StoreFailed, UpstreamFailed
from bio_mcp.literature.quality import StaticQuality
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports import Backends, PortOver
from bio_mcp.ports.models import Generated, LanguageModel
from bio_mcp.ports.projects import Project, Projects
from bio_mcp.ports.state import CallRecord, Calls
from bio_mcp.ports.stores import Documents, Passages
from bio_mcp.retrieval.passages import Candidate, Filters, Matching, OtherName, PassageQuery, StoredChunk
from bio_mcp.retrieval.pubmed_syntax import printed
from bio_mcp.scope import NO_CALL, current, entered

log = logging.getLogger("bio_mcp.recording")

SCHEME = 1

WAITING = 200  # calls at most that wait to be recorded; further ones are not
CLOSING_S = 5.0
STORING_S = 2.0  # that an answer waits for it, where it does
PACKAGE = Path(__file__).parent
NOT_ASKED = {"doors", "samples"}  # parts of the package that no answer depends on
ELSEWHERE = frozenset("collections project_documents zotero pubmed lookup jobs checkpoints reranker screenings".split())
"""Ports whose answers are not recorded."""

Sims = dict[str, list[tuple[str, float | None]]]
"""PMID -> chunk ids with their cosines, in the order of the text."""


@dataclass(slots=True)
class Reads:
    """What was read, in the order of reading.

    `papers` has PMID -> version and indexed version, None for one that was not there. `asked` has other answers of the
    index as JSON, by the `key_of` what was asked. `generated` has whether the
    language model wrote something, and that or its failure; None where there was no model. `graph` is the graph's
    revision. `elsewhere` names ports whose answers are not recorded.
    """

    day: str | None = None
    searches: list[tuple[str, list[Candidate]]] = field(default_factory=list)
    passages: list[tuple[str, Sims]] = field(default_factory=list)
    papers: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    resolved: dict[str, str | None] = field(default_factory=dict)
    counts: list[tuple[int, int]] = field(default_factory=list)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    generated: list[tuple[bool, str]] | None = None
    graph: str | None = None
    elsewhere: set[str] = field(default_factory=set)

    def noting(self, name: str, port: Any) -> Any:
        """The port of that name, so that what it returns is noted here."""
        if port is None:
            return port
        if name in ELSEWHERE:
            self.elsewhere.add(name)
        elif name == "graph" and self.graph is None:
            try:
                self.graph = port.revision()
            except Failure:  # a call never fails for being recorded
                self.elsewhere.add("graph")
        recording = RECORDING.get(name)
        return recording(port, self) if recording else port


def search_key(query: PassageQuery) -> str:
    """Names a search by all that it asks but the vector, and among given papers but the terms, which only order them:
    those of relevance feedback come from vectors that are not recorded."""
    terms = query.terms if query.within is None else ()
    filters, within = query.filters, sorted(query.within) if query.within is not None else None
    sets = [sorted(each) for each in (filters.journals, filters.publication_types, filters.tags)]
    asked: list[Any] = [filters.year_from, filters.year_to, sets, filters.project]
    if filters.tree is not None or filters.participants_min is not None:  # which earlier versions did not have
        asked += [filters.tree and printed(filters.tree), filters.participants_min]
    return key_of(terms, query.vector is None, asked, query.depth, within)


def matching_key(filters: Filters, most: int) -> str:
    """Names a count of what passes these filters, with so many PMIDs: as the search that has no words."""
    return search_key(PassageQuery((), None, filters, most))


def key_of(*asked: Any) -> str:
    """Names what was asked, which is JSON values."""
    return sha256(json.dumps(asked).encode()).hexdigest()[:16]


scores = attrgetter("pmid", "bm25", "sim", "chunk_id", "year")  # of a candidate
quality = attrgetter("design", "journal", "human")


def dumps(reads: Reads) -> bytes:
    """The reads as compressed bytes."""
    rows = [
        (key, [(*scores(each), *quality(each.quality), each.retraction.value) for each in found])
        for key, found in reads.searches
    ]
    columns = [(key, list(zip(*found, strict=True)) or [()] * 9) for key, found in rows]
    row = (
        SCHEME, reads.day, columns, reads.passages, reads.papers, reads.resolved, reads.counts, reads.generated,
        reads.graph, sorted(reads.elsewhere), reads.asked,
    )  # fmt: skip
    return zlib.compress(to_json(row, fallback=float), 3)  # of numpy's floats, too


def loads(blob: bytes) -> Reads:
    """The reads that `dumps` wrote. Raises `StoreFailed`, not retryable, for other bytes."""
    try:
        scheme, day, searches, passages, papers, resolved, counts, generated, graph, elsewhere, *rest = json.loads(
            zlib.decompress(blob)
        )
        [asked] = rest or [[]]  # nothing else was asked of the index by earlier versions
        if scheme != SCHEME:
            raise ValueError(scheme)
        return Reads(
            day,
            [(key, _candidates(columns)) for key, columns in searches],
            [
                (key, {pmid: [(id_, sim) for id_, sim in found] for pmid, found in sims.items()})
                for key, sims in passages
            ],
            {pmid: None if versions is None else (versions[0], versions[1]) for pmid, versions in papers.items()},
            resolved,
            [(documents, chunks) for documents, chunks in counts],
            [(key, found) for key, found in asked],
            None if generated is None else [(ok, text) for ok, text in generated],
            graph,
            set(elsewhere),
        )
    except (zlib.error, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise StoreFailed("What this call read cannot be read any more.", retryable=False) from error


def _candidates(columns: Sequence[Sequence[Any]]) -> list[Candidate]:
    return [
        Candidate(pmid, bm25, sim, chunk_id, year, StaticQuality(design, journal, human), RetractionStatus(retraction))
        for pmid, bm25, sim, chunk_id, year, design, journal, human, retraction in zip(*columns, strict=True)
    ]


@dataclass(eq=False, repr=False)
class RecordingPort(PortOver):
    """A port of which some methods note what they return."""

    _trace: Reads


class RecordingPassages(RecordingPort):
    _over: Passages

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        found = self._over.hybrid_search(query)
        self._trace.searches.append((search_key(query), found))
        return found

    def chunks(self, pmids: Sequence[str], vector: Any = None) -> dict[str, list[StoredChunk]]:
        found = self._over.chunks(pmids, vector)
        sims = {pmid: [(each.chunk_id, each.sim) for each in chunks] for pmid, chunks in found.items()}
        self._trace.passages.append((key_of(sorted(pmids), vector is not None), sims))
        return found

    def count(self) -> tuple[int, int]:
        counted = self._over.count()
        self._trace.counts.append(counted)
        return counted

    def matching(self, filters: Filters, most: int) -> Matching:
        found = self._over.matching(filters, most)
        self._trace.asked.append((matching_key(filters, most), [found.total, list(found.pmids)]))
        return found

    def words_like(self, word: str) -> list[tuple[str, int]]:
        found = self._over.words_like(word)
        self._trace.asked.append((key_of("words like", word), [list(each) for each in found]))
        return found

    def other_names(self, names: Collection[str]) -> list[OtherName]:
        found = self._over.other_names(names)
        rows = [[each.name, each.other, each.papers] for each in found]
        self._trace.asked.append((key_of("other names", sorted(names)), rows))
        return found


class RecordingDocuments(RecordingPort):
    _over: Documents

    def get(self, pmid: str) -> Document:
        try:
            document = self._over.get(pmid)
        except NotFound:
            self._trace.papers[pmid] = None
            raise
        self._trace.papers[pmid] = (document.version, document.indexed_version)
        return document

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        found = self._over.get_many(pmids)
        self._trace.papers |= dict.fromkeys(pmids) | {
            pmid: (each.version, each.indexed_version) for pmid, each in found.items()
        }
        return found

    def resolve(self, identifiers: Sequence[str]) -> dict[str, str]:
        found = self._over.resolve(identifiers)
        self._trace.resolved |= dict.fromkeys(identifiers) | found
        return found


class RecordingProjects(RecordingPort):
    """Where there are projects, what is read of them is not recorded."""

    _over: Projects

    def all(self) -> list[Project]:
        found = self._over.all()
        if found:
            self._trace.elsewhere.add("projects")
        return found

    def __getattr__(self, name: str) -> Any:
        self._trace.elsewhere.add("projects")
        return super().__getattr__(name)


class RecordingLanguageModel(RecordingPort):
    _over: LanguageModel

    def __init__(self, port: LanguageModel, trace: Reads) -> None:
        super().__init__(port, trace)
        self._written = trace.generated = trace.generated or []

    def generate(self, question: str, passages: Sequence[str], deadline: Deadline) -> Generated:
        try:
            generated = self._over.generate(question, passages, deadline)
        except (BudgetSpent, UpstreamFailed, DeadlineExceeded) as failure:
            self._written.append((False, str(failure)))
            raise
        self._written.append((True, generated.text))
        return generated


RECORDING: Mapping[str, Callable[[Any, Reads], object]] = {
    "passages": RecordingPassages,
    "documents": RecordingDocuments,
    "language_model": RecordingLanguageModel,
    "projects": RecordingProjects,
}


class CallRecorder:
    """The port `Recorder` over `calls`. `background`: a thread stores, for a process that goes on after an answer."""

    def __init__(self, calls: Callable[[], Calls], *, background: bool = True) -> None:
        self._calls = calls
        self._background = background
        self._waiting: Queue[Callable[[], None] | None] = Queue(WAITING)
        self._thread: Thread | None = None
        self._lock = Lock()

    def record(self, call: Callable[[], CallRecord], trace: Reads, backends: Backends) -> None:
        """Store the call, unless it read nothing: now, or soon where a thread does it."""
        read = (
            *(trace.searches, trace.passages, trace.papers, trace.resolved, trace.asked),
            *(trace.graph, trace.elsewhere),
        )
        if not any(read):
            return
        found = current().found  # the index and the model of the call

        def store() -> None:
            try:
                with entered(replace(NO_CALL, found=found)):
                    self._calls().record(replace(call(), inputs=inputs_of(backends, trace), read=dumps(trace)))
            except Failure as failure:
                log.info("a call was not recorded: %s", failure)

        if not self._background:
            alone = Thread(target=store, name="recording a call", daemon=True)
            alone.start()  # in a thread, whose failures are its own
            alone.join(STORING_S)
            return
        try:
            self._waiting.put_nowait(store)
        except Full:
            log.info("a call was not recorded: too many wait")
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, name="recording calls", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Store what waits, as far as it takes no longer than some seconds."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None and thread.is_alive():
            self._waiting.put(None)
            thread.join(CLOSING_S)

    def _run(self) -> None:
        while (entry := self._waiting.get()) is not None:
            entry()


def inputs_of(backends: Backends, reads: Reads) -> dict[str, str]:
    """Input -> token: code, rules, and of model, language model and graph those that were asked."""
    tau = getattr(backends, "answer_tau", None)
    inputs = {"code": _files(".py"), "rules": sha256(f"{_files('')} {tau}".encode()).hexdigest()[:16]}
    if reads.searches or "collections" in reads.elsewhere:
        inputs["model"] = backends.embeddings.fingerprint
    if reads.searches:
        reranker = getattr(backends, "reranker", None)
        inputs["reranker"] = reranker.fingerprint if reranker else "none"
    if reads.generated is not None:
        model = backends.language_model
        inputs["language_model"] = model.fingerprint if model else "none"
    if reads.graph is not None:
        inputs["graph"] = backends.graph.revision()
    return inputs


@cache
def _files(suffix: str) -> str:
    """A hash of the package's files: its source for ".py", its tables and coefficients for ""."""
    paths = [each for each in sorted(PACKAGE.rglob("*")) if each.is_file() and "__pycache__" not in each.parts]
    found = sha256()
    for each in paths:
        place = each.relative_to(PACKAGE)
        if (each.suffix == ".py") == (suffix == ".py") and place.parts[0] not in NOT_ASKED:
            found.update(f"{place.as_posix()}\0".encode() + sha256(each.read_bytes()).digest())
    return found.hexdigest()[:16]
