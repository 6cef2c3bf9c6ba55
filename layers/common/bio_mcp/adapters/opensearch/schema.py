"""Settings and mapping of an index: what every index has, and what that of papers has.

One document per paper, `_id` its PMID. What is filtered and ranked by stands in columns beside the text's own term
stream; the windows' vectors are nested documents, in the order of `layout`. What is only read back, the passages and
their vectors bit by bit, is `unindexed`, which is not indexed. Stored fields are compressed well: texts and the base64
of vectors take half of what they take else, and only reading by PMID looks at them. Writers alone refresh.

How an index of papers has the vectors of its windows: for three sizes of a corpus.

`float`: a graph of all windows, in float32. `byte`: the same graph in bytes, a quarter of the memory. `paper`: a graph
with one vector of bytes a paper, the mean of its windows. The latter two only find papers, more than are asked for;
these are scored by the float32 vectors of all their windows, which are read from disk for them alone. So scores are
those of `float`, and only a paper that the graph does not find can be missed.

The float32 vectors need a field that has no graph. In 2.19 that is one of the engine faiss, in an index that never
builds its graphs (`approximate_threshold` -1): faiss itself is not called.

Doc values are what scripts compare: a field that only a graph is made of has none. Lucene reads a graph's vectors from
the graph, also where it compares all that pass a filter.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bio_mcp.adapters.opensearch.found_by import MAPPING, UNSTORED
from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors


Body = dict[str, Any]
VectorLayout = Literal["float", "byte", "paper"]
VECTOR_LAYOUTS: tuple[VectorLayout, ...] = get_args(VectorLayout)

DECIMALS = 8  # of an indexed vector's components; those that are read back are whole
LARGEST = 10.0  # component that a byte holds, by the root of the dimension: bge has axes where most are beyond 4
LARGEST_BEFORE = {1: 4.0, 2: 4.0}  # by the version of a mapping
MARGIN = 64
SEVERAL = {"float": 2, "byte": 2, "paper": 4}  # papers that the graph is asked for, of each that is wanted
MOST = 10_000  # papers that a graph can be asked for; where it asks for all that pass, it looks at each
FOUND_BY = 4  # version of a mapping that has `found_by.MAPPING`
NO_GRAPHS = {"knn.advanced.approximate_threshold": -1}


def graph(engine: str, dim: int, **more: Any) -> Body:
    """Return the mapping of a vector that is found by a graph of near ones."""
    return {
        "type": "knn_vector",
        "dimension": dim,
        "method": {
            "name": "hnsw",
            "engine": engine,
            "space_type": "innerproduct",
            "parameters": {"m": 16, "ef_construction": 128},
        },
        **more,
    }


def mapping(layout: VectorLayout, engine: str, dim: int) -> Body:
    small, exact = graph(engine, dim, data_type="byte", doc_values=False), graph("faiss", dim)
    windows = {
        "float": {"vector": graph(engine, dim, doc_values=engine != "lucene")},
        "byte": {"vector": small, "exact": exact},
        "paper": {"exact": exact},
    }
    nested = {"windows": {"type": "nested", "properties": windows[layout]}}
    return {"vector": small, **nested} if layout == "paper" else nested


def indexed(layout: VectorLayout, version: int, matrix: "Vectors") -> Body:
    """Return what a document has in these fields of a mapping of this version; a row of `matrix` a window."""
    rows = np.round(matrix.astype(np.float64), DECIMALS).tolist()
    if layout == "float":
        return {"windows": [{"vector": row} for row in rows]}
    if layout == "byte":
        small = _bytes(matrix, version)
        return {"windows": [{"vector": each, "exact": row} for each, row in zip(small, rows, strict=True)]}
    windows = {"windows": [{"exact": row} for row in rows]}
    if not rows:
        return windows
    mean = matrix.mean(axis=0)
    return {"vector": _bytes(mean / (np.linalg.norm(mean) or 1), version), **windows}


def nearest(
    layout: VectorLayout, version: int, vector: "Vectors", depth: int, passing: list[Body], *, every: bool
) -> Body:
    """Query for the papers whose best window is nearest, of those that pass; `every`: whether to look at all of these.

    The inner hit names the window.
    """
    count = MOST if every else min(MOST, SEVERAL[layout] * depth + MARGIN)
    asked = vector.tolist() if layout == "float" else _bytes(vector, version)
    near = {"vector": asked, "k": count, **({"filter": {"bool": {"filter": passing}}} if passing else {})}
    inner = {"inner_hits": {"size": 1, "_source": False, "stored_fields": "_none_"}}
    if layout == "float":
        return _of_windows({"knn": {"windows.vector": near}}, **inner)
    scored = _of_windows({"script_score": compared("windows.exact", vector, {"match_all": {}})}, **inner)
    found = {"knn": {"vector": near}} if layout == "paper" else _of_windows({"knn": {"windows.vector": near}})
    return {"bool": {"must": [scored], "filter": passing if every else [found]}}


def compared(name: str, vector: "Vectors", query: Body) -> Body:
    """What scores each document of a query by the cosine of its field `name` to `vector`."""
    params = {"field": name, "query_value": vector.tolist(), "space_type": "innerproduct"}
    return {"query": query, "script": {"lang": "knn", "source": "knn_score", "params": params}}


def _of_windows(query: Body, **more: Body) -> Body:
    return {"nested": {"path": "windows", "score_mode": "max", "query": query, **more}}


def _bytes(vectors: "Vectors", version: int) -> Any:
    scale = 127 * np.sqrt(vectors.shape[-1]) / LARGEST_BEFORE.get(version, LARGEST)
    return np.clip(np.round(vectors.astype(np.float64) * scale), -128, 127).astype(int).tolist()


KEYWORD = {"type": "keyword"}
TERMS = {"type": "text", "analyzer": "whitespace", "similarity": "terms", "index_options": "freqs"}
SIMILARITIES = ("LegacyBM25", "BM25")  # from OpenSearch 3 on, "BM25" leaves out the factor k1 + 1


@dataclass(frozen=True, slots=True)
class Flavour:
    """A kind of OpenSearch. `engine` is its vector library.

    One that is not `managed` takes no write that depends on the sequence number that was read or on the index being
    there, refreshes by itself, sets shards, copies and blocks itself, and is not known to compare vectors one by one.
    """

    engine: str
    managed: bool


DOMAIN = Flavour("lucene", managed=True)  # a domain or a node of one's own: the engine that the tests run on
SERVERLESS = Flavour("faiss", managed=False)  # a collection of type SEARCH
FLAVOURS = {"none": DOMAIN, "es": DOMAIN, "aoss": SERVERLESS}


@dataclass(frozen=True, slots=True)
class Contents:
    """What an index holds. `fields` gives its mapping by flavour and dimension; of the source `unstored` is left out.

    `settings` are those of the index where they are ours to set. `separator` stands between the parts of its name.
    `vectors` is how it has its vectors. `version` counts the changes of all this, and of the terms that are written,
    for which an index must be made again.
    """

    fields: Callable[[Flavour, int], dict[str, Any]]
    unstored: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    separator: str = "-"
    vectors: VectorLayout = "float"
    version: int = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """`replicas` are copies beside the first, None for one where there is a second node.

    `generation` tells two indices of one model apart.
    """

    flavour: Flavour
    shards: int = 1
    replicas: int | None = None
    generation: int = 1
    contents: Contents = field(default_factory=lambda: PAPERS["float"])

    def index_name(self, corpus: str, fingerprint: str, dim: int) -> str:
        """Return the name of the index of `corpus` for the vectors of this model."""
        model = sha256(f"{fingerprint}/{dim}".encode()).hexdigest()[:12]
        return self.contents.separator.join((corpus, model, str(self.generation)))

    def own_alias(self, index: str) -> str:
        """Return the alias of this index alone. A write by it fails if the index is gone; by name it creates one."""
        return f"{index}{self.contents.separator}own"

    def described(self, shards: int, vectors: VectorLayout, version: int) -> str:
        """Say in words what was chosen for an index with these: equal words, equal choices."""
        several = [f"{shards} shard{'s' * (shards != 1)}"] if self.flavour.managed else []
        return ", ".join([*several, vectors, f"mapping {version}"])

    @property
    def wanted(self) -> str:
        return self.described(self.shards, self.contents.vectors, self.contents.version)

    def body(self, fingerprint: str, dim: int, similarity: str) -> dict[str, Any]:
        """Return the settings and mapping of an index; `similarity` is one of `SIMILARITIES`."""
        return {
            "settings": {"index": self._settings(similarity)},
            "mappings": {
                "dynamic": "strict",
                "_meta": {
                    "fingerprint": fingerprint,
                    "dim": dim,
                    "vectors": self.contents.vectors,
                    "version": self.contents.version,
                },
                "_source": {"excludes": list(self.contents.unstored)},
                "properties": self.contents.fields(self.flavour, dim),
            },
        }

    def _settings(self, similarity: str) -> dict[str, Any]:
        ranking = {"knn": True, "similarity": {"terms": {"type": similarity, "k1": BM25_K1, "b": BM25_B}}}
        if not self.flavour.managed:
            return ranking
        copies = {"auto_expand_replicas": "0-1"} if self.replicas is None else {"number_of_replicas": self.replicas}
        return ranking | {"number_of_shards": self.shards, **copies, **self.contents.settings}


def _papers(vectors: VectorLayout, flavour: Flavour, dim: int) -> dict[str, Any]:
    small = {"type": "byte", "index": False}
    return {
        "pmid": {"type": "long"},
        "version": {"type": "long", "index": False},
        "title": {"type": "keyword", "index": False, "doc_values": False},
        "terms": TERMS,
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
        **MAPPING,
        **mapping(vectors, flavour.engine, dim),
    }


def _contents(vectors: VectorLayout) -> Contents:
    settings = {"codec": "best_compression", "refresh_interval": "30s"}
    return Contents(
        partial(_papers, vectors),
        unstored=("terms", "windows", "vector", *UNSTORED),
        settings=settings if vectors == "float" else settings | NO_GRAPHS,
        vectors=vectors,
        version=FOUND_BY,  # 1 had doc values of float vectors, 2 narrower bytes, 3 only what questions find papers by
    )


PAPERS: dict[str, Contents] = {each: _contents(each) for each in VECTOR_LAYOUTS}
