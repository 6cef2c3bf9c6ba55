"""Query bodies of the two legs over the chunks of a project, and their answers as matches.

The cosine of every chunk that passes the filters is computed, so both engines rank alike, ties included: some 80 ms
for 50,000 chunks. Serverless is not known to do that, and looks for near vectors in a graph.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bio_mcp.adapters.opensearch.chunk_documents import MAX_SECTION, chunk_of, exact
from bio_mcp.adapters.opensearch.queries import Body, cosine, words
from bio_mcp.adapters.opensearch.vectors import MOST
from bio_mcp.retrieval.chunk_facets import folded_filters
from bio_mcp.retrieval.project_chunks import ChunkFilters, ChunkMatch, ChunkQuery

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

CHUNK = ["unindexed.chunk"]
LISTED_AT_ONCE = 1_000


def lexical_body(query: ChunkQuery) -> Body | None:
    """Query for the best chunks by BM25; None if no term has a weight."""
    any_word = words(query.terms, conditions(query.filters))
    return _best(query.depth, any_word) if any_word else None


def semantic_body(query: ChunkQuery, vector: "Vectors", *, scripts: bool) -> Body:
    """Query for the best chunks by cosine; without `scripts` by a graph."""
    passing: Body = {"bool": {"filter": conditions(query.filters)}}
    if not scripts:
        near = {"vector": vector.tolist(), "k": min(MOST, 2 * query.depth), "filter": passing}
        return _best(query.depth, {"knn": {"vector": near}})
    params = {"field": "vector", "query_value": vector.tolist(), "space_type": "innerproduct"}
    script = {"lang": "knn", "source": "knn_score", "params": params}
    return _best(query.depth, {"script_score": {"query": passing, "script": script}})


def _best(size: int, query: Body) -> Body:
    return {
        "size": min(size, MOST),
        "query": query,
        "sort": ["_score", {"chunk_id": "asc"}],
        "track_total_hits": False,
        "_source": CHUNK,
    }


def conditions(filters: ChunkFilters) -> list[Body]:
    """Filter clauses for `filters`."""
    folded = folded_filters(filters)
    any_of = {"doc_id": folded.doc_ids, "citekey": folded.citekeys, "authors": folded.authors}
    clauses: list[Body] = [{"terms": {field: sorted(map(exact, each))}} for field, each in any_of.items() if each]
    clauses += [{"term": {"tags": exact(tag)}} for tag in sorted(folded.tags)]
    years = {"gte": folded.year_from, "lte": folded.year_to}
    bounds = {name: year for name, year in years.items() if year is not None}
    clauses += [{"range": {"year": bounds}}] if bounds else []
    return clauses + ([{"prefix": {"section": folded.section_prefix[:MAX_SECTION]}}] if folded.section_prefix else [])


def listing_body(doc_id: str | None, after: str | None, size: int, source: Sequence[str]) -> Body:
    """Query for the `size` chunks whose ids follow `after`, of one document or of all."""
    following: Body = {} if after is None else {"search_after": [after]}
    return following | {
        "size": size,
        "query": {"bool": {"filter": [] if doc_id is None else [{"term": {"doc_id": exact(doc_id)}}]}},
        "sort": [{"chunk_id": "asc"}],
        "track_total_hits": False,
        "_source": list(source),
        "docvalue_fields": ["embedded", "content"],
    }


def matches(lexical: Sequence[Body], semantic: Sequence[Body], factor: float) -> list[ChunkMatch]:
    """Merge the chunks of both legs. BM25 scores are divided by `factor`, by which Lucene multiplies them."""
    bm25 = {hit["_id"]: hit["sort"][0] / factor for hit in lexical}
    sims = {hit["_id"]: cosine(hit["sort"][0]) for hit in semantic}
    sources = {hit["_id"]: hit["_source"] for hit in (*lexical, *semantic)}
    return [ChunkMatch(chunk_of(source), bm25.get(each), sims.get(each)) for each, source in sources.items()]
