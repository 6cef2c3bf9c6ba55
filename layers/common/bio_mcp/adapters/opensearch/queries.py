"""Query bodies of the two legs, words and vectors, and their answers as candidates.

Both legs go in one `_msearch`; they are fused here, because the server's own fusion ranks per shard. Words: one `term`
clause each, with its weight as a boost, and statistics over all shards. Vectors: the best windows of at least twice as
many papers as are asked for, so that ties at the end are broken here. A few given papers (`within`) are scored one by
one.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.opensearch.errors import BUSY_STATUS, Busy, IndexRefused, kind_of
from bio_mcp.adapters.opensearch.vectors import VectorLayout, nearest
from bio_mcp.adapters.pmids import numbers
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.passages import Candidate, PassageQuery, StaticQuality, YearCount

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

Body = dict[str, Any]

WHOLE = {"search_type": "dfs_query_then_fetch", "allow_partial_search_results": False}
COLUMNS = ["pmid", "year", "design", "journal_rank", "human", "retraction", "layout"]
MOST_YEARS = 2_000  # pairs of a year and a design


def lexical_body(query: PassageQuery) -> Body | None:
    """Query for the best papers by BM25; None if no term has a weight."""
    any_word = words(query.terms, conditions(query))
    return _page(query.depth, any_word) if any_word else None


def words(terms: Iterable[tuple[str, float]], passing: Sequence[Body]) -> Body | None:
    """Query for documents with any of the terms, of those that pass the filters; None if no term has a weight."""
    weights: dict[str, float] = {}
    for term, weight in terms:
        weights[term] = weights.get(term, 0.0) + weight
    should = [{"term": {"terms": {"value": term, "boost": weight}}} for term, weight in weights.items() if weight > 0]
    if not should:
        return None
    return {"bool": {"should": should, "minimum_should_match": 1, "filter": list(passing)}}


def semantic_body(query: PassageQuery, vector: "Vectors", layout: VectorLayout = "float") -> Body:
    """Query for the best papers by the cosine of their best window, which the inner hit names."""
    every = query.within is not None
    return _page(query.depth, nearest(layout, vector, query.depth, conditions(query), every=every))


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
    """Query for the `size` papers that follow the PMID `after`, with their versions."""
    return {
        "size": size,
        "query": {"range": {"pmid": {"gt": after}}},
        "sort": [{"pmid": "asc"}],
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["pmid", "version"],
    }


def years_body() -> Body:
    """Query for the number of papers of each year and study design."""
    sources = [{name: {"terms": {"field": name, "missing_bucket": True}}} for name in ("year", "design")]
    return {"size": 0, "aggs": {"years": {"composite": {"size": MOST_YEARS, "sources": sources}}}}


def years(answer: Body) -> list[YearCount]:
    """Return what `years_body` asked for, by year and design."""
    buckets = answer["aggregations"]["years"]["buckets"]
    return [YearCount(each["key"]["year"], each["key"]["design"], each["doc_count"]) for each in buckets]


def conditions(query: PassageQuery) -> list[Body]:
    """Filter clauses for the filters of `query`."""
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
    """Filter clauses for these papers. By `terms` alone OpenSearch would filter windows, and none would pass."""
    pmids = numbers(within)
    return [{"terms": {"pmid": pmids}}, {"range": {"pmid": {"gte": pmids[0], "lte": pmids[-1]}}}]


def whole(answer: Any, count: int) -> list[list[Body]]:
    """Return the hits of each of `count` searches. Raises `Busy` or `IndexRefused` if one is partial or missing."""
    responses = answer.get("responses", ())
    if len(responses) != count:
        raise Busy(f"The passage index answered {len(responses)} of {count} searches; try again in a moment.")
    return [checked(each)["hits"]["hits"] for each in responses]


def checked(response: Body) -> Body:
    """Return the answer to one search. Raises `Busy` or `IndexRefused` unless every shard answered in time."""
    if "error" in response:
        status = int(response.get("status", 500))
        if status in BUSY_STATUS:
            raise Busy(f"The passage index is busy ({kind_of(response)}); try again in a moment.")
        raise IndexRefused(status, kind_of(response))
    shards = response["_shards"]
    missing = max(shards["failed"], shards["total"] - shards["successful"])
    if missing or response.get("timed_out"):
        raise Busy(
            f"The passage index answered with {shards['total'] - missing} of {shards['total']} shards, or not in time; "
            "try again in a moment."
        )
    return response


def complete(answer: Any, count: int) -> list[Body]:
    """Return those of `count` documents of an `_mget` that exist. Raises `Busy` if one could not be looked up."""
    documents = answer.get("docs", ())
    failed = [each for each in documents if "error" in each]
    if failed:
        raise Busy(f"The passage index could not read {len(failed)} of {count} documents ({kind_of(failed[0])}).")
    if len(documents) != count:
        raise Busy(f"The passage index answered for {len(documents)} of {count} documents; try again in a moment.")
    return [each for each in documents if each["found"]]


def candidates(lexical: Sequence[Body], semantic: Sequence[Body], factor: float) -> list[Candidate]:
    """Merge the papers of both legs. BM25 scores are divided by `factor`, by which Lucene multiplies them."""
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
    """Return the inner product ip of a k-NN score, which is 1 + ip, or 1 / (1 - ip) if ip is negative."""
    return score - 1 if score >= 1 else 1 - 1 / score


def _candidate(fields: Body, bm25: float | None, sim: float | None, chunk_id: str | None) -> Candidate:
    def column(name: str) -> Any:
        return fields.get(name, (None,))[0]

    quality = StaticQuality(column("design"), column("journal_rank"), column("human"))
    retraction = RetractionStatus(column("retraction"))
    return Candidate(str(column("pmid")), bm25, sim, chunk_id, column("year"), quality, retraction)
