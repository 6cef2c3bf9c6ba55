"""The two legs as query bodies, and what comes back as candidates.

Both legs go in one `_msearch` and are fused by us: the server's own fusion ranks per shard. Words: one `term` clause
each, with its weight as a boost; statistics are those of all shards together. Vectors: the best windows of twice as
many papers as are asked for, so that ties at the end are ours to break. Few papers (`within`) are scored one by one.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.opensearch.errors import BUSY_STATUS, Busy, IndexRefused, kind_of
from bio_mcp.adapters.pmids import numbers
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.passages import Candidate, PassageQuery, StaticQuality

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

Body = dict[str, Any]

WHOLE = {"search_type": "dfs_query_then_fetch", "allow_partial_search_results": False}
COLUMNS = ["pmid", "year", "design", "journal_rank", "human", "retraction", "layout"]
MOST = 10_000  # papers that a vector query can be told to find; where it asks for all that pass, it looks at each
MARGIN = 64


def lexical_body(query: PassageQuery) -> Body | None:
    """The best papers by BM25; None where no term weighs anything."""
    weights: dict[str, float] = {}
    for term, weight in query.terms:
        weights[term] = weights.get(term, 0.0) + weight
    should = [{"term": {"terms": {"value": term, "boost": weight}}} for term, weight in weights.items() if weight > 0]
    if not should:
        return None
    return _page(query.depth, {"bool": {"should": should, "minimum_should_match": 1, "filter": conditions(query)}})


def semantic_body(query: PassageQuery, vector: "Vectors") -> Body:
    """The best papers by the cosine of their best window, which the inner hit names."""
    count = MOST if query.within is not None else min(MOST, 2 * query.depth + MARGIN)
    knn: Body = {"vector": vector.tolist(), "k": count}
    if passing := conditions(query):
        knn["filter"] = {"bool": {"filter": passing}}
    inner = {"size": 1, "_source": False, "stored_fields": "_none_"}
    nearest = {"query": {"knn": {"windows.vector": knn}}, "inner_hits": inner}
    return _page(query.depth, {"nested": {"path": "windows", "score_mode": "max", **nearest}})


def _page(size: int, query: Body) -> Body:
    return {
        "size": size,
        "query": query,
        "sort": ["_score", {"pmid": "desc"}],
        "track_total_hits": False,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": COLUMNS,
    }


def listing_body(after: int, size: int) -> Body:
    """The next papers by PMID, with their versions."""
    return {
        "size": size,
        "query": {"range": {"pmid": {"gt": after}}},
        "sort": [{"pmid": "asc"}],
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["pmid", "version"],
    }


def conditions(query: PassageQuery) -> list[Body]:
    """What a paper must fulfil, as filter clauses."""
    filters = query.filters
    years = {"gte": filters.year_from, "lte": filters.year_to}
    bounds = {name: year for name, year in years.items() if year is not None}
    clauses: list[Body] = [{"range": {"year": bounds}}] if bounds else []
    clauses += [
        {"terms": {field: sorted(wanted)}}
        for field, wanted in (("journals", filters.journals), ("publication_types", filters.publication_types))
        if wanted
    ]
    clauses += [{"term": {"tags": tag}} for tag in sorted(filters.tags)]
    clauses += [{"term": {"projects": filters.project}}] if filters.project is not None else []
    return clauses + _among(query.within) if query.within is not None else clauses


def _among(within: Iterable[str]) -> list[Body]:
    """These papers only. By the `terms` clause alone OpenSearch takes the filter for one on windows: none passes."""
    pmids = numbers(within)
    return [{"terms": {"pmid": pmids}}, {"range": {"pmid": {"gte": pmids[0], "lte": pmids[-1]}}}]


def whole(answer: Any, count: int) -> list[list[Body]]:
    """The hits of each of `count` searches. Raises `Busy`, `IndexRefused` where one answered in part or not at all."""
    responses = answer.get("responses", ())
    if len(responses) != count:
        raise Busy(f"The passage index answered {len(responses)} of {count} searches; try again in a moment.")
    return [checked(each)["hits"]["hits"] for each in responses]


def checked(response: Body) -> Body:
    """The answer to one search. Raises `Busy` or `IndexRefused` unless every shard has answered in time."""
    if "error" in response:
        status = int(response.get("status", 500))
        if status in BUSY_STATUS:
            raise Busy(f"The passage index is busy ({kind_of(response)}); try again in a moment.")
        raise IndexRefused(status, kind_of(response))
    shards = response["_shards"]
    lacking = max(shards["failed"], shards["total"] - shards["successful"])
    if lacking or response.get("timed_out"):
        raise Busy(
            f"The passage index answered with {shards['total'] - lacking} of {shards['total']} shards, or not in time; "
            "try again in a moment."
        )
    return response


def complete(answer: Any, count: int) -> list[Body]:
    """Those of `count` documents of an `_mget` that exist. Raises `Busy` where one could not be looked for."""
    documents = answer.get("docs", ())
    failed = [each for each in documents if "error" in each]
    if failed:
        raise Busy(f"The passage index could not read {len(failed)} of {count} documents ({kind_of(failed[0])}).")
    if len(documents) != count:
        raise Busy(f"The passage index answered for {len(documents)} of {count} documents; try again in a moment.")
    return [each for each in documents if each["found"]]


def candidates(lexical: Sequence[Body], semantic: Sequence[Body], factor: float) -> list[Candidate]:
    """Both legs' papers, each once. BM25 scores are divided by `factor`, which Lucene puts into them."""
    found: dict[int, Candidate] = {}
    for hit in semantic:
        window = hit["inner_hits"]["windows"]["hits"]["hits"][0]["_nested"]["offset"]
        chunk_id = hit["fields"]["layout"][0].split(" ")[window]
        found[hit["fields"]["pmid"][0]] = _candidate(hit["fields"], None, cosine(hit["sort"][0]), chunk_id)
    for hit in lexical:
        pmid, bm25 = hit["fields"]["pmid"][0], hit["sort"][0] / factor
        if pmid in found:
            found[pmid].bm25 = bm25
        else:
            found[pmid] = _candidate(hit["fields"], bm25, None, None)
    return list(found.values())


def cosine(score: float) -> float:
    """The inner product behind a k-NN score, which is 1 + ip, or 1 / (1 - ip) below zero."""
    return score - 1 if score >= 1 else 1 - 1 / score


def _candidate(fields: Body, bm25: float | None, sim: float | None, chunk_id: str | None) -> Candidate:
    def column(name: str) -> Any:
        return fields.get(name, (None,))[0]

    quality = StaticQuality(column("design"), column("journal_rank"), column("human"))
    retraction = RetractionStatus(column("retraction"))
    return Candidate(str(column("pmid")), bm25, sim, chunk_id, column("year"), quality, retraction)
