"""Settings and mapping of the index of one embedding model.

One document per paper, `_id` its PMID. What is filtered and ranked by stands in columns beside the text's own term
stream; the windows' vectors are nested documents, in the order of `layout`. What is only read back, the passages and
their vectors bit by bit, is `unindexed`, which is not indexed; the indexed vectors are not stored a second time.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

KEYWORD = {"type": "keyword"}
SIMILARITIES = ("LegacyBM25", "BM25")  # from OpenSearch 3 on, "BM25" leaves out the factor k1 + 1


@dataclass(frozen=True, slots=True)
class Flavour:
    """What a kind of OpenSearch can do.

    `engine` is the vector library. `conditional`: a write may depend on the sequence number that was read, and on the
    index being there. `refreshes`: searches may see a write at once. `tunable`: shards, copies and blocks are ours
    to set.
    """

    engine: str
    conditional: bool = True
    refreshes: bool = True
    tunable: bool = True


DOMAIN = Flavour("lucene")  # a managed domain or a node of one's own: the engine that the tests run on
SERVERLESS = Flavour("faiss", conditional=False, refreshes=False, tunable=False)  # a collection of type SEARCH
FLAVOURS = {"none": DOMAIN, "es": DOMAIN, "aoss": SERVERLESS}


@dataclass(frozen=True, slots=True)
class Layout:
    """`k1` and `b` are BM25's; `replicas` are copies beside the first, None for one where there is a second node.

    `generation` tells two indices of one model apart, for a rebuild that changes only the layout.
    """

    flavour: Flavour
    k1: float
    b: float
    shards: int = 1
    replicas: int | None = None
    generation: int = 1


def index_name(corpus: str, fingerprint: str, dim: int, generation: int = 1) -> str:
    """Return the name of the index of `corpus` for the vectors of this model."""
    return f"{corpus}-{sha256(f'{fingerprint}/{dim}'.encode()).hexdigest()[:12]}-{generation}"


def own_alias(index: str) -> str:
    """Return the alias of this index alone. A write by it fails if the index is gone; by name it would create one."""
    return f"{index}-own"


def index_body(layout: Layout, fingerprint: str, dim: int, similarity: str) -> dict[str, Any]:
    """Return the settings and mapping of an index; `similarity` is one of `SIMILARITIES`."""
    settings: dict[str, Any] = {
        "knn": True,
        "similarity": {"terms": {"type": similarity, "k1": layout.k1, "b": layout.b}},
    }
    if layout.flavour.tunable:
        copies = {"auto_expand_replicas": "0-1"} if layout.replicas is None else {"number_of_replicas": layout.replicas}
        settings |= {"number_of_shards": layout.shards, **copies}
    return {
        "settings": {"index": settings},
        "mappings": {
            "dynamic": "strict",
            "_meta": {"fingerprint": fingerprint, "dim": dim},
            "_source": {"excludes": ["terms", "windows"]},
            "properties": _properties(layout.flavour.engine, dim),
        },
    }


def _properties(engine: str, dim: int) -> dict[str, Any]:
    small = {"type": "byte", "index": False}
    vector = {
        "type": "knn_vector",
        "dimension": dim,
        "method": {
            "name": "hnsw",
            "engine": engine,
            "space_type": "innerproduct",
            "parameters": {"m": 16, "ef_construction": 128},
        },
    }
    return {
        "pmid": {"type": "long"},
        "version": {"type": "long", "index": False},
        "title": {"type": "keyword", "index": False, "doc_values": False},
        "terms": {"type": "text", "analyzer": "whitespace", "similarity": "terms", "index_options": "freqs"},
        "year": {"type": "integer"},
        "journals": KEYWORD,
        "publication_types": KEYWORD,
        "tags": KEYWORD,
        "projects": KEYWORD,
        "design": small,
        "journal_rank": small,
        "human": small,
        "retraction": KEYWORD,
        "passages": {"type": "integer", "index": False},
        "layout": {"type": "keyword", "index": False},
        "unindexed": {"type": "object", "enabled": False},
        "windows": {"type": "nested", "properties": {"vector": vector}},
    }
