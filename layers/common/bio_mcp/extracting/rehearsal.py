"""Ports that note what would be written and write nothing: what a document would change is seen before it does.

What was noted is read again, as if it had been written, so that a second file of one paper is joined to the first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bio_mcp.ports import Backends
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.retrieval.project_chunks import ProjectChunk

Line = dict[str, Any]
"""A JSON object of the log."""


class Rehearsal:
    """`Backends` over others whose projects and graph are only read. `lines` are the writes since it was last asked."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends
        self._lines: list[Line] = []
        self.collections = _Collections(backends, self._lines)
        self.project_documents = _ProjectDocuments(backends, self._lines)
        self.embeddings = _NoVectors(backends)

    def __getattr__(self, port: str) -> Any:
        return getattr(self._backends, port)

    def taken(self) -> list[Line]:
        """The writes that were noted since the last call."""
        lines, self._lines[:] = list(self._lines), []
        return lines


class _NoVectors:
    """The model, for all but its vectors, which nothing is written with."""

    def __init__(self, backends: Backends) -> None:
        self._model = backends.embeddings
        self.max_tokens, self.count_tokens = self._model.max_tokens, self._model.count_tokens
        self.fingerprint = self._model.fingerprint

    def embed(self, texts: Sequence[str]) -> list[None]:
        return [None] * len(texts)


class _Collections:
    def __init__(self, backends: Backends, lines: list[Line]) -> None:
        self._stored, self._lines = backends.collections, lines
        self._noted: dict[tuple[str, str], list[ProjectChunk]] = {}

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


class _ProjectDocuments:
    def __init__(self, backends: Backends, lines: list[Line]) -> None:
        self._stored, self._lines = backends.project_documents, lines
        self._noted: dict[tuple[str, str], ProjectDocument | None] = {}

    def find(self, project_id: str, identifiers: Sequence[str]) -> list[ProjectDocument]:
        stored = {each.doc_id: each for each in self._stored.find(project_id, identifiers)}
        noted = {doc_id: each for (project, doc_id), each in self._noted.items() if project == project_id}
        known = {**stored, **{doc_id: each for doc_id, each in noted.items() if each}}
        found = [each for doc_id, each in known.items() if noted.get(doc_id, each) is not None]
        return sorted((each for each in found if each.identifiers & set(identifiers)), key=lambda each: each.doc_id)

    def put(self, project_id: str, document: ProjectDocument) -> None:
        self._lines.append(document_line(project_id, document))
        self._noted[project_id, document.doc_id] = document

    def delete(self, project_id: str, doc_ids: Sequence[str]) -> None:
        self._lines += [{"delete": "document", "project": project_id, "doc_id": each} for each in doc_ids]
        self._noted |= {(project_id, each): None for each in doc_ids}


def passage_line(collection: str, chunk: ProjectChunk) -> Line:
    """The line for a passage of a project's index."""
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
    """The line for a document's record."""
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
