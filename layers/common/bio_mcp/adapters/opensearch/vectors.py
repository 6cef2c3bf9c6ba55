"""How an index of papers has the vectors of its windows: for three sizes of a corpus.

`float`: a graph of all windows, in float32. `byte`: the same graph in bytes, a quarter of the memory. `paper`: a graph
with one vector of bytes a paper, the mean of its windows. The latter two only find papers, more than are asked for;
these are scored by the float32 vectors of all their windows, which are read from disk for them alone. So scores are
those of `float`, and only a paper that the graph does not find can be missed.

The float32 vectors need a field that has no graph. In 2.19 that is one of the engine faiss, in an index that never
builds its graphs (`approximate_threshold` -1): faiss itself is not called.

Doc values are what scripts compare: a field that only a graph is made of has none. Lucene reads a graph's vectors from
the graph, also where it compares all that pass a filter.
"""

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

Body = dict[str, Any]
VectorLayout = Literal["float", "byte", "paper"]
VECTOR_LAYOUTS: tuple[VectorLayout, ...] = get_args(VectorLayout)

DECIMALS = 8  # of an indexed vector's components; those that are read back are whole
LARGEST = 4.0  # component that a byte holds, by the root of the dimension; of MiniLM's one in 10,000 is larger
MARGIN = 64
SEVERAL = {"float": 2, "byte": 2, "paper": 4}  # papers that the graph is asked for, of each that is wanted
MOST = 10_000  # papers that a graph can be asked for; where it asks for all that pass, it looks at each
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
    """Return the fields that hold vectors."""
    if layout == "float":
        return {"windows": _nested({"vector": graph(engine, dim, doc_values=engine != "lucene")})}
    small = graph(engine, dim, data_type="byte", doc_values=False)
    if layout == "byte":
        return {"windows": _nested({"vector": small, "exact": graph("faiss", dim)})}
    return {"vector": small, "windows": _nested({"exact": graph("faiss", dim)})}


def _nested(fields: Body) -> Body:
    return {"type": "nested", "properties": fields}


def indexed(layout: VectorLayout, matrix: "Vectors") -> Body:
    """Return what a document has in these fields; a row of `matrix` a window."""
    rows = np.round(matrix.astype(np.float64), DECIMALS).tolist()
    if layout == "float":
        return {"windows": [{"vector": row} for row in rows]}
    if layout == "byte":
        return {"windows": [{"vector": small, "exact": row} for small, row in zip(_bytes(matrix), rows, strict=True)]}
    mean = {"vector": _bytes(_unit(matrix.mean(axis=0)))} if rows else {}
    return {**mean, "windows": [{"exact": row} for row in rows]}


def nearest(layout: VectorLayout, vector: "Vectors", depth: int, passing: list[Body], *, every: bool) -> Body:
    """Query for the papers whose best window is nearest, of those that pass; `every`: whether to look at all of these.

    The inner hit names the window.
    """
    count = MOST if every else min(MOST, SEVERAL[layout] * depth + MARGIN)
    if layout == "float":
        return _best_window({"knn": {"windows.vector": _near(vector.tolist(), count, passing)}})
    if every:
        return {"bool": {"must": [_scored(vector)], "filter": passing}}
    near = _near(_bytes(vector), count, passing)
    found = {"knn": {"vector": near}} if layout == "paper" else _of_windows({"knn": {"windows.vector": near}})
    return {"bool": {"must": [_scored(vector)], "filter": [found]}}


def _near(vector: list[float], count: int, passing: list[Body]) -> Body:
    return {"vector": vector, "k": count, **({"filter": {"bool": {"filter": passing}}} if passing else {})}


def _scored(vector: "Vectors") -> Body:
    params = {"field": "windows.exact", "query_value": vector.tolist(), "space_type": "innerproduct"}
    script = {"lang": "knn", "source": "knn_score", "params": params}
    return _best_window({"script_score": {"query": {"match_all": {}}, "script": script}})


def _best_window(query: Body) -> Body:
    inner = {"inner_hits": {"size": 1, "_source": False, "stored_fields": "_none_"}}
    return {"nested": {"path": "windows", "score_mode": "max", "query": query, **inner}}


def _of_windows(query: Body) -> Body:
    return {"nested": {"path": "windows", "score_mode": "max", "query": query}}


def _bytes(vectors: "Vectors") -> Any:
    scale = 127 * np.sqrt(vectors.shape[-1]) / LARGEST
    return np.clip(np.round(vectors.astype(np.float64) * scale), -128, 127).astype(int).tolist()


def _unit(vector: "Vectors") -> "Vectors":
    length = np.linalg.norm(vector)
    return vector / length if length else vector
