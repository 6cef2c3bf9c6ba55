"""Chunks of a project to OpenSearch documents and back, and the index that holds them.

One document per chunk. Beside the chunk's term stream and vector stand what filters look at, and what listings read
without the source: `embedded`, the hash of what was embedded, and `content`, that of the whole chunk. `unindexed` has
what is only read back: the chunk as JSON text, so that nothing a client stored is taken for a field, its vector as
base64 of little-endian float32, and the `form` of the rest. A chunk whose `unindexed` is stored is not written again.

Where vectors may be compared one by one, there is no graph of them: every search is exact, as on a laptop.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import fields
from hashlib import sha256
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from bio_mcp.adapters.opensearch.schema import TERMS, Contents, Flavour
from bio_mcp.adapters.opensearch.vectors import DECIMALS, graph
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.parsed import SectionKind
from bio_mcp.retrieval.analysis import ANALYSIS_VERSION
from bio_mcp.retrieval.chunk_facets import facets_of, section_of
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors

FILTERED = {"type": "keyword", "doc_values": False}
LISTED = {"type": "keyword", "index": False}
FORM = f"1.{ANALYSIS_VERSION}"  # of documents: changes with how their fields are made of a chunk
MAX_CHUNK_ID = 512  # bytes
MAX_EXACT = 1_000  # characters of a value that is compared as a whole; a longer one by its hash
MAX_SECTION = 2_000  # characters that a section's prefix is compared by

_CHUNK = [each.name for each in fields(ProjectChunk)]
_WORK = [each.name for each in fields(Work)]
_chunk_row, _work_row = attrgetter(*_CHUNK), attrgetter(*_WORK)


def _fields(flavour: Flavour, dim: int) -> dict[str, Any]:
    vector = {"type": "knn_vector", "dimension": dim} if flavour.scripts else graph(flavour.engine, dim)
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
    facets, text = facets_of(chunk.work), _encoded(chunk)
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


def vector_of(source: Mapping[str, Any]) -> "Vectors":
    """The vector of a document, whole."""
    return np.frombuffer(b64decode(source["unindexed"]["vector"]), "<f4")


def chunk_of(source: Mapping[str, Any]) -> ProjectChunk:
    """The chunk of a document."""
    values = dict(zip(_CHUNK, json.loads(source["unindexed"]["chunk"]), strict=True))
    work = dict(zip(_WORK, values["work"], strict=True))
    span = values["page_span"]
    return ProjectChunk(
        **values
        | {
            "work": Work(**work | {"authors": tuple(work["authors"]), "tags": tuple(work["tags"])}),
            "section_path": tuple(values["section_path"]),
            "page_span": span and (span[0], span[1]),
            "kind": SectionKind(values["kind"]),
        }
    )


def _encoded(chunk: ProjectChunk) -> str:
    values = dict(zip(_CHUNK, _chunk_row(chunk), strict=True))
    values |= {"work": _work_row(chunk.work), "metadata": dict(chunk.metadata)}
    return json.dumps(list(values.values()), separators=(",", ":"))
