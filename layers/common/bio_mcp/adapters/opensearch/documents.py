"""Index entries to OpenSearch documents and back.

The field `unindexed` has what is only read back; OpenSearch stores it and indexes none of it: id, section, offsets of
each chunk, its text, the hash of what was embedded, and all vectors as base64 of little-endian float32.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bio_mcp.adapters.entry_vectors import cosines, journal_names
from bio_mcp.adapters.opensearch.vectors import VectorLayout, indexed
from bio_mcp.adapters.pmids import key
from bio_mcp.errors import Conflict
from bio_mcp.retrieval.passages import Entry, StoredChunk

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

Source = Mapping[str, Any]


def document_of(entry: Entry, matrix: "Vectors", layout: VectorLayout) -> dict[str, Any]:
    """Return the document of `entry`; row i of `matrix` embeds chunk i."""
    quality = entry.quality
    known = {
        "title": entry.title,
        "year": entry.year,
        "design": quality.design,
        "journal_rank": quality.journal,
        "human": quality.human,
    }
    return {
        "pmid": key(entry.pmid),
        "version": entry.version,
        "terms": " ".join(entry.terms),
        **{name: value for name, value in known.items() if value is not None},
        "journals": sorted(journal_names(entry)),
        "publication_types": sorted(set(entry.publication_types)),
        "tags": sorted(set(entry.tags)),
        "projects": sorted(set(entry.projects)),
        "retraction": entry.retraction.value,
        "passages": len(entry.chunks),
        "layout": " ".join(each.chunk_id for each in entry.chunks),
        "unindexed": {
            "chunks": [[each.chunk_id, each.section, each.char_start, each.char_end] for each in entry.chunks],
            "texts": [each.text for each in entry.chunks],
            "hashes": [each.embedded_sha256 for each in entry.chunks],
            "vectors": b64encode(matrix.astype("<f4").tobytes()).decode(),
        },
        **indexed(layout, matrix),
    }


def needs_stored(entry: Entry) -> bool:
    """Tell whether vectors must be read back before the entry can be written."""
    return any(each.chunk_id not in entry.vectors for each in entry.chunks)


def vectors_of(entry: Entry, stored: Source | None, dim: int) -> "Vectors":
    """Return a row per chunk: the entry's vector, or the stored one of the same text. Raises `Conflict` for neither."""
    known: dict[str, Vectors] = {}
    if stored is not None and "unindexed" in stored:
        known = by_hash(stored)
    rows = np.zeros((len(entry.chunks), dim), np.float32)
    for row, chunk in zip(rows, entry.chunks, strict=True):
        vector = entry.vectors.get(chunk.chunk_id, known.get(chunk.embedded_sha256))
        if vector is None:
            raise Conflict(
                f"The text of chunk {chunk.chunk_id} of PMID {entry.pmid} is not the one whose vector is stored; "
                "embed it again."
            )
        row[:] = vector
    return rows


def matrix_of(source: Source) -> "Vectors":
    """Return the stored vectors, one row per passage."""
    flat = np.frombuffer(b64decode(source["unindexed"]["vectors"]), "<f4")
    return flat.reshape(source["passages"], -1) if source["passages"] else flat.reshape(0, 0)


def by_hash(source: Source) -> "dict[str, Vectors]":
    """Return the stored vectors by the SHA-256 of what was embedded."""
    return dict(zip(source["unindexed"]["hashes"], matrix_of(source), strict=True))


def hashes_of(source: Source) -> dict[str, str]:
    """Return the SHA-256 of what was embedded, by chunk id."""
    unindexed = source["unindexed"]
    return {chunk[0]: digest for chunk, digest in zip(unindexed["chunks"], unindexed["hashes"], strict=True)}


def chunks_of(pmid: str, source: Source, vector: "Vectors | None") -> list[StoredChunk]:
    """Return the passages in the order of the text, with their cosines to `vector`, if given."""
    unindexed = source["unindexed"]
    sims = cosines(matrix_of(source), vector) if vector is not None else [None] * source["passages"]
    return [
        StoredChunk(pmid, chunk_id, text, section, start, end, sim)
        for (chunk_id, section, start, end), text, sim in zip(
            unindexed["chunks"], unindexed["texts"], sims, strict=True
        )
    ]
