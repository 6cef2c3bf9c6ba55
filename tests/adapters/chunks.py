"""Chunks of projects with made-up texts and vectors."""

from zlib import crc32

from bio_mcp.retrieval.project_chunks import ProjectChunk, Work
from tests.adapters.entries import DIM, unit


def chunk(chunk_id, text="some text", doc="d1", *, work=None, **fields):
    return ProjectChunk(chunk_id, Work(doc, **(work or {})), text, **fields)


def document(doc, *texts, **fields):
    """Chunks `doc`-0, `doc`-1, ... of these texts."""
    return [chunk(f"{doc}-{n}", text, doc, position=n, **fields) for n, text in enumerate(texts)]


def vectors(chunks, dim=DIM):
    """For each chunk a unit vector that depends on its embedded text alone."""
    return {each.chunk_id: unit(crc32(each.embedded_text.encode()), dim) for each in chunks}


def store(collections, collection, *documents):
    for chunks in documents:
        collections.replace(collection, chunks[0].work.doc_id, chunks, vectors(chunks))
