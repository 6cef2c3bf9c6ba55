import time
from inspect import signature

import numpy as np
import pytest

from bio_mcp.adapters.opensearch import bulk
from bio_mcp.adapters.opensearch.bulk import Bulk
from bio_mcp.adapters.opensearch.index import KNOWN_S, Alias
from bio_mcp.adapters.opensearch.queries import cosine, lexical_body, semantic_body
from bio_mcp.adapters.opensearch.schema import DOMAIN, SERVERLESS, Layout, index_body, index_name
from bio_mcp.errors import IndexUnavailable
from bio_mcp.retrieval.passages import Filters, PassageQuery
from tests.adapters.entries import DIM, entry, unit
from tests.adapters.opensearch.fake import OPEN, Scripted


def item(pmid, status, kind="index", error=None):
    return {kind: {"_id": pmid, "status": status, **({"error": {"type": error}} if error else {})}}


def lines(ids):
    return {each: f'{{"delete":{{"_id":"{each}"}}}}\n'.encode() for each in ids}


def test_both_legs_go_in_one_request_and_demand_every_shard():
    server = Scripted((200, OPEN), (200, {"responses": [page(), page()]}))
    query = PassageQuery((("aspirin", 1.0), ("stroke", 0.5), ("aspirin", 0.5), ("never", 0.0)), unit(1))
    assert server.passages().hybrid_search(query) == []
    method, path, (head, lexical, again, semantic) = server.asked[1]
    assert (method, path) == ("GET", "/corpus-abc-1/_msearch")
    assert head == again == {"search_type": "dfs_query_then_fetch", "allow_partial_search_results": False}
    should = lexical["query"]["bool"]["should"]
    assert {each["term"]["terms"]["value"]: each["term"]["terms"]["boost"] for each in should} == {
        "aspirin": 1.5,
        "stroke": 0.5,
    }
    assert semantic["query"]["nested"]["query"]["knn"]["windows.vector"]["k"] > query.depth
    assert lexical["size"] == semantic["size"] == query.depth


NEW = [(200, OPEN), (200, {"docs": [{"_id": "7", "found": False}]}), (200, {"items": [item("7", 201)]}), (200, OPEN)]


def page(*hits):
    return {"timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}, "hits": {"hits": list(hits)}}


def test_nothing_to_look_for_asks_nothing():
    server = Scripted((200, OPEN))
    assert server.passages().hybrid_search(PassageQuery((), None)) == []
    assert len(server.asked) == 1
    assert lexical_body(PassageQuery((("x", 0.0),), None)) is None


def test_every_filter_is_in_both_legs():
    filters = Filters(2000, 2010, frozenset({"cell"}), frozenset({"D1", "D2"}), frozenset({"a", "b"}), "p")
    query = PassageQuery((("x", 1.0),), unit(1), filters, within=frozenset({"7", "12"}))
    wanted = [
        {"range": {"year": {"gte": 2000, "lte": 2010}}},
        {"terms": {"journals": ["cell"]}},
        {"terms": {"publication_types": ["D1", "D2"]}},
        {"term": {"tags": "a"}},
        {"term": {"tags": "b"}},
        {"term": {"projects": "p"}},
        {"terms": {"pmid": [7, 12]}},
        {"range": {"pmid": {"gte": 7, "lte": 12}}},
    ]
    knn = semantic_body(query, unit(1))["query"]["nested"]["query"]["knn"]["windows.vector"]
    assert knn["filter"]["bool"]["filter"] == wanted
    assert lexical_body(query)["query"]["bool"]["filter"] == wanted
    assert (
        "filter"
        not in semantic_body(PassageQuery((), unit(1)), unit(1))["query"]["nested"]["query"]["knn"]["windows.vector"]
    )


@pytest.mark.parametrize("product", [1.0, 0.5, 0.0, -0.25, -1.0])
def test_a_score_gives_back_the_cosine(product):
    score = 1 + product if product >= 0 else 1 / (1 - product)
    assert cosine(score) == pytest.approx(product)


@pytest.mark.parametrize(
    ("flavour", "path", "action"),
    [
        (DOMAIN, "/corpus-abc-1-own/_bulk?refresh=true&require_alias=true", {"create": {"_id": "7"}}),
        (SERVERLESS, "/corpus-abc-1/_bulk", {"index": {"_id": "7"}}),
    ],
)
def test_each_kind_of_opensearch_is_written_as_it_can_be(flavour, path, action):
    server = Scripted(
        (200, OPEN), (200, {"docs": [{"_id": "7", "found": False}]}), (200, {"items": [item("7", 201)]}), (200, OPEN)
    )
    server.passages(flavour).upsert_chunks([entry("7", "x")])
    method, asked, [act, document] = server.asked[2]
    assert (method, asked, act) == ("POST", path, action)
    assert document["pmid"] == 7
    assert len(document["windows"]) == document["passages"] == 1


def test_a_document_that_is_there_is_replaced_only_as_it_was_read():
    there = {"_id": "7", "found": True, "_seq_no": 5, "_primary_term": 2, "_source": {"version": 1}}
    moved = there | {"_seq_no": 6}
    server = Scripted(
        (200, OPEN),
        (200, {"docs": [there]}),
        (200, {"items": [item("7", 409, error="version_conflict_engine_exception")]}),
        (200, {"docs": [moved]}),
        (200, {"items": [item("7", 200)]}),
        (200, OPEN),
    )
    server.passages().upsert_chunks([entry("7", "x", version=2)])
    actions = [asked[2][0] for asked in server.asked if "_bulk" in asked[1]]
    assert [each["index"]["if_seq_no"] for each in actions] == [5, 6]


def test_an_older_version_is_not_sent_at_all():
    there = {"_id": "7", "found": True, "_seq_no": 5, "_primary_term": 2, "_source": {"version": 3}}
    server = Scripted((200, OPEN), (200, {"docs": [there]}), (200, OPEN))
    server.passages().upsert_chunks([entry("7", "x", version=2)])
    assert not [asked for asked in server.asked if "_bulk" in asked[1]]


def test_only_what_was_refused_is_sent_again():
    answers = [{"items": [item("1", 200), item("2", 429), item("3", 503), item("4", 200)]}, {"items": [item("2", 200)]}]
    server = Scripted(*((200, each) for each in answers), (200, {"items": [item("3", 200)]}))
    server.bulk().write("/x/_bulk", ["1", "2", "3", "4"], lines)
    assert [[each["delete"]["_id"] for each in asked[2]] for asked in server.asked] == [list("1234"), ["2", "3"], ["3"]]
    assert server.pauses == [1, 2]


def test_no_answer_leaves_everything_to_be_sent_again():
    server = Scripted(None, (200, {"items": [item("1", 200), item("2", 200)]}))
    server.bulk().write("/x/_bulk", ["1", "2"], lines)
    assert len(server.asked) == 2


def test_what_stays_refused_is_counted():
    server = Scripted(*[(200, {"items": [item("1", 200), item("2", 429, error="rejected_execution_exception")]})] * 3)
    with pytest.raises(IndexUnavailable, match=r"1 of 2 documents .*rejected_execution_exception") as raised:
        server.bulk().write("/x/_bulk", ["1", "2"], lines)
    assert raised.value.retryable
    assert raised.value.details == {"unwritten": 1, "tries": 3}


@pytest.mark.parametrize(
    "answer",
    [
        (200, {"items": [item("1", 400, error="mapper_parsing_exception")]}),
        (403, {"error": {"type": "security_exception"}}),
    ],
)
def test_what_will_never_be_taken_is_an_error_at_once(answer):
    server = Scripted(answer)
    with pytest.raises(IndexUnavailable, match="1 of 1") as raised:
        server.bulk().write("/x/_bulk", ["1"], lines)
    assert not raised.value.retryable
    assert not server.pauses


def test_a_document_that_was_not_there_is_deleted_all_the_same():
    server = Scripted((200, {"items": [item("1", 404, "delete"), item("2", 200, "delete")]}))
    server.bulk().write("/x/_bulk", ["1", "2"], lines)
    assert not server.pauses


def test_an_index_that_is_gone_is_an_error_and_not_a_deletion():
    server = Scripted((200, {"items": [item("1", 404, "delete", error="index_not_found_exception")]}))
    with pytest.raises(IndexUnavailable, match="index_not_found"):
        server.bulk().write("/x/_bulk", ["1"], lines)


def test_large_batches_go_in_several_requests():
    size = bulk.REQUEST_BYTES // 2 + 1

    def heavy(ids):
        return {each: f'{{"delete":{{"_id":"{each}","pad":"{"x" * size}"}}}}\n'.encode() for each in ids}

    server = Scripted(*((200, {"items": [item(each, 200)]}) for each in "123"))
    Bulk(server.transport()).write("/x/_bulk", ["1", "2", "3"], heavy)
    assert [len(asked[2]) for asked in server.asked] == [1, 1, 1]


def test_the_index_is_what_is_documented():
    body = index_body(Layout(DOMAIN, 1.2, 0.5, shards=2, replicas=1), "model-a", DIM, "BM25")
    assert body["settings"]["index"]["similarity"]["terms"] == {"type": "BM25", "k1": 1.2, "b": 0.5}
    assert body["settings"]["index"]["number_of_shards"] == 2
    assert body["mappings"]["properties"]["terms"]["analyzer"] == "whitespace"
    assert body["mappings"]["_meta"] == {"fingerprint": "model-a", "dim": DIM}
    serverless = index_body(Layout(SERVERLESS, 1.2, 0.5), "model-a", DIM, "BM25")
    assert serverless["settings"]["index"].keys() == {"knn", "similarity"}
    assert serverless["mappings"]["properties"]["windows"]["properties"]["vector"]["method"]["engine"] == "faiss"


def test_one_model_has_one_index_and_others_have_others():
    names = {index_name("corpus", "model-a", 8), index_name("corpus", "model-b", 8), index_name("corpus", "model-a", 9)}
    assert len(names | {index_name("corpus", "model-a", 8, 2)}) == 4
    assert index_name("corpus", "model-a", 8) == index_name("corpus", "model-a", 8)


def test_the_indexed_vector_is_the_kept_one_to_eight_decimals():
    server = Scripted(
        (200, OPEN), (200, {"docs": [{"_id": "7", "found": False}]}), (200, {"items": [item("7", 201)]}), (200, OPEN)
    )
    server.passages().upsert_chunks([entry("7", "x", vectors=[unit(3)])])
    [window] = server.asked[2][2][1]["windows"]
    assert np.abs(np.array(window["vector"]) - unit(3)).max() < 1e-8


def test_an_alias_that_means_two_indices_is_settled_for_the_older():
    of_b = {"mappings": {"_meta": {"fingerprint": "model-b", "dim": 8}}}
    younger = {"corpus-xyz-1": of_b | {"settings": {"index": {"creation_date": "1700000000001"}}}}
    server = Scripted((200, younger | OPEN))
    assert server.passages().alias.now().fingerprint == "model-a"


def test_what_the_alias_means_is_looked_up_again_after_a_freeze_and_when_the_clock_was_put_back():
    now = [1_000.0]
    server = Scripted(*[(200, OPEN)] * 3)
    alias = Alias(server.transport(), "corpus", "corpus", Layout(DOMAIN, 1.2, 0.5), clock=lambda: now[0])
    for seconds in (0, KNOWN_S - 1, 1, -3_600):  # the third is half a minute after the first
        now[0] += seconds
        assert alias.index().name == "corpus-abc-1"
    assert len(server.asked) == 3
    assert signature(Alias).parameters["clock"].default is time.time  # Lambda's monotonic clock stands still
