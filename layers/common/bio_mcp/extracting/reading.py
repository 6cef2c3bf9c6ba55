"""Read one document of a batch into a project and the graph, or note what that would write."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from bio_mcp.answering.contraindications import NOT_EVIDENCE
from bio_mcp.deadline import Deadline
from bio_mcp.extracting.gazetteer import Gazetteer, Match
from bio_mcp.extracting.statements import Findings, Mention, Statement, findings_of
from bio_mcp.graph.nodes import Edge, Evidence, Step, document_source, edge_of, merge_edges, to_record
from bio_mcp.ingesting.documents import Incoming
from bio_mcp.ingesting.files import LOGS, folder_of
from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.ingesting.run import IngestCursor
from bio_mcp.ingesting.writing import RESERVE_S, DocumentWriter, WrittenDocument
from bio_mcp.literature.descriptions import References
from bio_mcp.literature.documents import ParsedDocument
from bio_mcp.ports import Backends, BackendsOver
from bio_mcp.ports.projects import Collections, Parser, Project, ProjectDocument, ProjectDocuments
from bio_mcp.ports.state import Hold, Job
from bio_mcp.ports.stores import Embeddings
from bio_mcp.retrieval.project_chunks import ProjectChunk
from bio_mcp.scope import bounded_by

CANDIDATES = 10  # of a name, that are listed


def as_lines(objects: Iterable[Mapping[str, Any]]) -> bytes:
    """The objects as JSON lines, equal for equal objects."""
    rows = (json.dumps(each, ensure_ascii=False, sort_keys=True, separators=(",", ":")) for each in objects)
    return "".join(f"{row}\n" for row in rows).encode("utf-8", "replace")


def read_lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(row) for row in content.decode().split("\n") if row]


def _mention(mention: Mention) -> dict[str, Any]:
    linked = mention.linked
    return {
        "mention": mention.text,
        "chars": [mention.start, mention.end],
        "section": mention.section,
        "denied": mention.denied,
        "candidates": [
            {"id": each.node.node_id, "type": each.node.type.value, "label": each.node.label, "by": each.name}
            for each in linked.candidates[:CANDIDATES]
        ],
        "reason": linked.reason,
        "certain": linked.certain,
    }


def _statement(statement: Statement) -> dict[str, Any]:
    return {
        "statement": statement.edge.value,
        "from": statement.from_id,
        "to": statement.to_id,
        "quote": statement.quote,
        "chars": [statement.start, statement.end],
        "problem": statement.problem,
    }


Line = dict[str, Any]
"""A JSON object of the log."""


class DryRun(BackendsOver):
    """Other backends whose projects and graph are only read. `lines` are the writes since it was last asked."""

    def __init__(self, backends: Backends) -> None:
        self._lines: list[Line] = []
        super().__init__(
            backends,
            collections=_Collections(backends.collections, self._lines, backends.embeddings),
            project_documents=_ProjectDocuments(backends.project_documents, self._lines),
            blobs=_NoFiles(),
            leases=_NoLeases(),
            embeddings=_NoVectors(backends),
        )

    def taken(self) -> list[Line]:
        """The writes that were noted since the last call."""
        lines, self._lines[:] = list(self._lines), []
        return lines


class _NoLeases:
    """Leases that nobody is asked for, as nothing is written under them."""

    def take(self, name: str) -> Hold:
        return Hold(name, 0, "")


class _NoFiles:
    """Files of which none is kept or deleted."""

    def put(self, *_: object) -> None:
        """Nothing."""

    def delete(self, *_: object) -> None:
        """Nothing."""


class _NoVectors:
    """The model, for all but its vectors, which nothing is written with."""

    def __init__(self, backends: Backends) -> None:
        self._model = backends.embeddings
        self.max_tokens, self.count_tokens = self._model.max_tokens, self._model.count_tokens
        self.fingerprint = self._model.fingerprint

    def embed(self, texts: Sequence[str]) -> list[None]:
        return [None] * len(texts)


@dataclass(slots=True)
class _Collections:
    _stored: Collections
    _lines: list[Line]
    _model: Embeddings
    _noted: dict[tuple[str, str], list[ProjectChunk]] = field(default_factory=dict)

    def model(self, collection: str) -> tuple[str, int]:
        """The model of what is stored, or of what is still to be made."""
        return self._stored.model(collection) or (self._model.fingerprint, self._model.dim)

    def hashes(self, collection: str, doc_id: str) -> dict[str, str]:
        if (collection, doc_id) not in self._noted:
            return self._stored.hashes(collection, doc_id)
        return {each.chunk_id: each.embedded_sha256 for each in self._noted[collection, doc_id]}

    def document(self, collection: str, doc_id: str) -> list[ProjectChunk]:
        noted = self._noted.get((collection, doc_id))
        return self._stored.document(collection, doc_id) if noted is None else noted

    def replace(
        self, collection: str, doc_id: str, chunks: Sequence[ProjectChunk], _: Mapping[str, object], _model: str = ""
    ) -> None:
        gone = self.hashes(collection, doc_id).keys() - {each.chunk_id for each in chunks}
        self._lines += [passage_line(collection, each) for each in chunks]
        self._lines += [{"delete": "passage", "collection": collection, "chunk_id": each} for each in sorted(gone)]
        self._noted[collection, doc_id] = list(chunks)

    def upsert(self, *_: object) -> None:
        """Nothing: what is embedded before the time ends is no part of the plan."""


@dataclass(slots=True)
class _ProjectDocuments:
    _stored: ProjectDocuments
    _lines: list[Line]
    _noted: dict[tuple[str, str], ProjectDocument | None] = field(default_factory=dict)

    def find(self, project_id: str, identifiers: Sequence[str]) -> list[ProjectDocument]:
        stored = {each.doc_id: each for each in self._stored.find(project_id, identifiers)}
        noted = {doc_id: each for (project, doc_id), each in self._noted.items() if project == project_id}
        known = {**stored, **{doc_id: each for doc_id, each in noted.items() if each}}
        found = [each for doc_id, each in known.items() if noted.get(doc_id, each) is not None]
        return sorted((each for each in found if each.identifiers & set(identifiers)), key=lambda each: each.doc_id)

    def put(self, project_id: str, document: ProjectDocument) -> None:
        if document.chunks:  # and not as one that is about to be read
            self._lines.append(document_line(project_id, document))
        self._noted[project_id, document.doc_id] = document

    def delete(self, project_id: str, doc_ids: Sequence[str]) -> None:
        self._lines += [{"delete": "document", "project": project_id, "doc_id": each} for each in doc_ids]
        self._noted |= {(project_id, each): None for each in doc_ids}


def passage_line(collection: str, chunk: ProjectChunk) -> Line:
    return {
        "write": "passage",
        "collection": collection,
        "doc_id": chunk.work.doc_id,
        "chunk_id": chunk.chunk_id,
        "position": chunk.position,
        "section": chunk.section,
        "pages": list(chunk.page_span) if chunk.page_span else None,
        "chars": [chunk.char_start, chunk.char_end],
        "sha256": chunk.embedded_sha256,
    }


def document_line(project_id: str, document: ProjectDocument) -> Line:
    return {
        "write": "document",
        "project": project_id,
        "doc_id": document.doc_id,
        "title": document.work.title,
        "pmid": document.work.pmid,
        "doi": document.work.doi,
        "identifiers": sorted(document.identifiers),
        "sha256": document.sha256,
        "chunks": document.chunks,
    }


EDGES = 5_000  # of a kind at a node, among which an edge is looked for


@dataclass(frozen=True, slots=True)
class Plan:
    """What a job does with each document.

    `project` is still to be made where it `is_new`. `languages` gives those of a scan by the call's `lang`.
    """

    project: Project
    is_new: bool
    dry_run: bool
    languages: Callable[[str], Sequence[str]]
    gazetteer: Callable[[], Gazetteer]


class Reading:
    """Brings the documents of one job into its project and, as far as they state something clearly, into the graph."""

    def __init__(self, plan: Plan, job: Job, cursor: IngestCursor, backends: Backends, deadline: Deadline) -> None:
        self._plan, self._job, self._cursor = plan, job, cursor
        self._backends, self._deadline = backends, deadline
        self._parser = _ReadOnce(backends.parser)
        self._dry_run = DryRun(backends)
        self._noted: dict[tuple[str, str, str], Edge] = {}
        self._is_new = plan.is_new and not cursor.logs

    def write_document(self, incoming: Incoming) -> WrittenDocument:
        """Plan what the document writes, and write it unless the job is a dry run.

        Raises `UnreadableDocument`, `DeadlineExceeded` and the failures of the ports; the next call goes on.
        """
        key = self._cursor.planned.get(incoming.sha256)
        lines = read_lines(self._backends.blobs.get(key)) if key else list(self._planned(incoming))
        key = key or self._backends.blobs.put(folder_of(self._plan.project.project_id, LOGS), as_lines(lines), ".jsonl")
        if not self._plan.dry_run:
            # Save the plan with the job before anything of it is written.
            self._cursor.planned = {incoming.sha256: key}
            self._job.cursor = self._cursor.to_json()
            self._backends.jobs.put(self._job)
            self._write(incoming, lines)
        self._is_new = False
        return _written(lines, key)

    def _write(self, incoming: Incoming, lines: Sequence[Line]) -> None:
        if self._is_new:
            create_project(self._plan.project.project_id, Options(), self._backends)
        self._writer(incoming, self._backends).write_document(incoming)
        if edges := [edge_of(each) for each in lines if each.get("write") == "edge"]:
            self._backends.graph.put([], edges)

    def _planned(self, incoming: Incoming) -> Iterator[Line]:
        written = self._writer(incoming, self._dry_run).write_document(incoming)
        writes = self._dry_run.taken()
        project_id = self._plan.project.project_id
        [document] = self._dry_run.project_documents.find(project_id, [written.doc_id])
        parsed = self._parsed(incoming)
        yield _head(incoming, document, project_id, parsed, written)
        findings = self._findings(parsed, document) if document.sha256 == incoming.sha256 else Findings((), ())
        yield from map(_mention, findings.mentions)
        yield from map(_statement, findings.statements)
        if self._is_new:
            yield {"write": "project", "project": project_id}
        yield from writes
        source = document_source(project_id, document.doc_id)
        for edge in self._new(_edges(findings.statements, source, document.work.pmid)):
            yield {"write": "edge", **to_record(edge)}

    def _writer(self, incoming: Incoming, backends: Backends) -> DocumentWriter:
        own = BackendsOver(backends, parser=self._parser)
        languages = self._plan.languages(incoming.language or "auto")
        return DocumentWriter(self._plan.project, own, self._deadline, references=References(), languages=languages)

    def _parsed(self, incoming: Incoming) -> ParsedDocument:
        """The document's text, also where nothing of it has changed since it was read."""
        with bounded_by(self._deadline.share(max(self._deadline.remaining - RESERVE_S, 0.1))):
            return self._parser.parse(
                incoming.content or b"", incoming.name, self._plan.languages(incoming.language or "auto")
            )

    def _findings(self, parsed: ParsedDocument, document: ProjectDocument) -> Findings:
        """What the document says; a paper that was retracted states nothing."""
        gazetteer, pmid = self._plan.gazetteer(), document.work.pmid

        def find(text: str) -> list[Match]:
            self._deadline.check("the names in a document were found")
            return gazetteer.find(text)

        findings = findings_of(parsed, find)
        known = self._backends.documents.get_many([pmid]).get(pmid) if pmid and findings.statements else None
        if known is None or known.article.retraction not in NOT_EVIDENCE:
            return findings
        problem = "the paper was retracted"
        return replace(findings, statements=tuple(replace(each, problem=problem) for each in findings.statements))

    def _new(self, edges: Sequence[Edge]) -> Iterator[Edge]:
        for edge in edges:
            stored = self._noted.get(edge.key)
            if stored is None:
                at = self._backends.graph.neighbours([edge.from_id], [Step(edge.type)], EDGES).get(edge.from_id)
                stored = next((each for each in at.edges if each.key == edge.key), None) if at else None
            merged = merge_edges(stored, edge)
            if merged != stored:
                self._noted[edge.key] = merged
                yield edge


def _edges(statements: Sequence[Statement], source: str, pmid: str | None) -> list[Edge]:
    """The edges that the statements of a document make, each with every sentence that states it."""
    edges: dict[tuple[str, str, str], Edge] = {}
    for each in statements:
        if each.problem is None:
            edge = Edge(each.edge, each.from_id, each.to_id, (source,), (Evidence(pmid, each.quote),))
            edges[edge.key] = merge_edges(edges.get(edge.key), edge)
    return [edges[key] for key in sorted(edges)]


def _head(
    incoming: Incoming, document: ProjectDocument, project_id: str, parsed: ParsedDocument, written: WrittenDocument
) -> Line:
    return {
        "document": incoming.name,
        "project": project_id,
        "doc_id": document.doc_id,
        "pmid": document.work.pmid,
        "title": document.work.title,
        "sha256": incoming.sha256,
        "language": parsed.language,
        "pages": parsed.pages,
        "ocr": parsed.ocr,
        "confidence": parsed.confidence,
        "warnings": list(written.warnings),
    }


def _written(lines: Sequence[Mapping[str, Any]], key: str) -> WrittenDocument:
    head = lines[0]
    chunks = sum(each.get("write") == "passage" for each in lines)
    written = any("write" in each or "delete" in each for each in lines)
    return WrittenDocument(head["doc_id"], written, chunks, head["pages"] or 0, tuple(head["warnings"]), key)


class _ReadOnce:
    """A parser that remembers the file that it read last."""

    def __init__(self, parser: Parser) -> None:
        self.version, self._once = parser.version, lru_cache(1)(parser.parse)

    def parse(self, content: bytes, name: str, languages: Sequence[str] = ()) -> ParsedDocument:
        return self._once(content, name, tuple(languages))
