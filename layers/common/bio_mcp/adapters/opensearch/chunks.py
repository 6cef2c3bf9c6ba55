"""Chunks of a project to OpenSearch documents and back, the index that holds them, and queries for them.

One document per chunk. Beside the chunk's term stream and vector stand what filters look at, and what listings read
without the source: `embedded`, the hash of what was embedded, and `content`, that of the whole chunk. `unindexed` has
what is only read back: the chunk as JSON text, so that nothing a client stored is taken for a field, its vector as
base64 of little-endian float32, and the `form` of the rest. A chunk whose `unindexed` is stored is not written again.

Where vectors may be compared one by one, there is no graph of them: the cosine of every chunk that passes the filters
is computed, so both engines rank alike, ties included: some 80 ms for 50,000 chunks. Serverless is not known to do
that, and looks for near vectors in a graph.
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from bio_mcp.adapters.indexes import CHUNK_FIELDS, chunk_of, chunk_values
from bio_mcp.adapters.opensearch.index import FACTOR, Body, Hit, StoredIndex, clauses, cosine, page, words
from bio_mcp.adapters.opensearch.schema import DECIMALS, MOST, TERMS, Contents, Flavour, compared, graph
from bio_mcp.errors import InvalidInput
from bio_mcp.retrieval.analysis import ANALYSIS_VERSION
from bio_mcp.retrieval.project_chunks import (
    ChunkFilters,
    ChunkMatch,
    ChunkQuery,
    ProjectChunk,
    facets_of,
    folded_filters,
    section_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors

FILTERED = {"type": "keyword", "doc_values": False}
LISTED = {"type": "keyword", "index": False}
FORM = f"1.{ANALYSIS_VERSION}"  # of documents: changes with how their fields are made of a chunk
MAX_CHUNK_ID = 512  # bytes
MAX_EXACT = 1_000  # characters of a value that is compared as a whole; a longer one by its hash
MAX_SECTION = 2_000  # characters that a section's prefix is compared by

CHUNK, VECTOR = ["unindexed.chunk"], ["unindexed.vector"]
BEST = ["_score", {"chunk_id": "asc"}]
LISTED_AT_ONCE = 1_000


def _fields(flavour: Flavour, dim: int) -> dict[str, Any]:
    vector = {"type": "knn_vector", "dimension": dim} if flavour.managed else graph(flavour.engine, dim)
    return {
        "chunk_id": LISTED,
        "embedded": LISTED,
        "content": LISTED,
        "terms": TERMS,
        "vector": vector,
        "doc_id": FILTERED,
        "citekey": FILTERED,
        "year": {"type": "long"},
        "tags": FILTERED,
        "authors": FILTERED,
        "section": FILTERED,
        "unindexed": {"type": "object", "enabled": False},
    }


CHUNKS = Contents(
    _fields,
    unstored=("terms", "vector"),
    settings={"knn": False, "refresh_interval": "-1"},  # searches see a write as a whole, when it is refreshed
    separator="~",  # in no name of a collection
)


def key_of(chunk_id: str) -> str:
    """The `_id` of a chunk's document."""
    return sha256(chunk_id.encode("utf-8", "surrogatepass")).hexdigest()


def exact(value: str) -> str:
    """A value as the index compares it."""
    return value if len(value) <= MAX_EXACT else f"sha256:{sha256(value.encode()).hexdigest()}"


def document_of(chunk: ProjectChunk, vector: "NDArray[np.float32]") -> dict[str, Any]:
    """Return the document of a chunk. Raises `InvalidInput` for an id that is too long to be sorted by."""
    if len(chunk.chunk_id.encode()) > MAX_CHUNK_ID:
        raise InvalidInput(f"The id of a chunk may have {MAX_CHUNK_ID} bytes, not {len(chunk.chunk_id.encode())}")
    facets, text = facets_of(chunk.work), json.dumps(chunk_values(chunk), separators=(",", ":"))
    known = {"citekey": facets.citekey and exact(facets.citekey), "year": facets.year}
    return {
        "chunk_id": chunk.chunk_id,
        "embedded": chunk.embedded_sha256,
        "content": sha256(f"{FORM} {text}".encode()).hexdigest(),
        "terms": " ".join(chunk.terms),
        "vector": np.round(vector.astype(np.float64), DECIMALS).tolist(),
        "doc_id": exact(facets.doc_id),
        **{name: value for name, value in known.items() if value is not None},
        "tags": sorted(map(exact, facets.tags)),
        "authors": sorted(map(exact, facets.authors)),
        "section": section_of(chunk)[:MAX_SECTION],
        "unindexed": {"chunk": text, "vector": b64encode(vector.astype("<f4").tobytes()).decode(), "form": FORM},
    }


def chunk_from(source: Mapping[str, Any]) -> ProjectChunk:
    return chunk_of(dict(zip(CHUNK_FIELDS, json.loads(source["unindexed"]["chunk"]), strict=True)))


def lexical_body(query: ChunkQuery) -> Body | None:
    """Query for the best chunks by BM25; None if no term has a weight."""
    any_word = words(query.terms, conditions(query.filters))
    return page(min(query.depth, MOST), any_word, BEST, source=CHUNK) if any_word else None


def semantic_body(query: ChunkQuery, vector: "Vectors", *, scripts: bool) -> Body:
    """Query for the best chunks by cosine; without `scripts` by a graph."""
    passing: Body = {"bool": {"filter": conditions(query.filters)}}
    if scripts:
        found = {"script_score": compared("vector", vector, passing)}
    else:
        found = {"knn": {"vector": {"vector": vector.tolist(), "k": min(MOST, 2 * query.depth), "filter": passing}}}
    return page(min(query.depth, MOST), found, BEST, source=CHUNK)


def conditions(filters: ChunkFilters) -> list[Body]:
    folded = folded_filters(filters)
    any_of = {"doc_id": folded.doc_ids, "citekey": folded.citekeys, "authors": folded.authors}
    exactly = {name: list(map(exact, values)) for name, values in any_of.items()}
    found = clauses(folded.year_from, folded.year_to, exactly, {"tags": list(map(exact, folded.tags))})
    return found + ([{"prefix": {"section": folded.section_prefix[:MAX_SECTION]}}] if folded.section_prefix else [])


def listed(
    index: StoredIndex, doc_id: str | None = None, source: Sequence[str] = (), at_once: int = LISTED_AT_ONCE
) -> Iterator[Hit]:
    """Yield the chunks of one document or of all, by id, with these fields of their source.

    `fields` of each has `embedded` and `content`.
    """
    query = {"bool": {"filter": [] if doc_id is None else [{"term": {"doc_id": exact(doc_id)}}]}}
    return index.listed(page(at_once, query, BEST[1:], "embedded", "content", source=source))


def matches(lexical: Sequence[Hit], semantic: Sequence[Hit]) -> list[ChunkMatch]:
    """Merge the chunks of both legs."""
    bm25 = {hit["_id"]: hit["sort"][0] / FACTOR for hit in lexical}
    sims = {hit["_id"]: cosine(hit["sort"][0]) for hit in semantic}
    sources = {hit["_id"]: hit["_source"] for hit in (*lexical, *semantic)}
    return [ChunkMatch(chunk_from(source), bm25.get(each), sims.get(each)) for each, source in sources.items()]
