"""What is sent to OpenSearch for papers."""

import pytest

from bio_mcp.adapters.opensearch.index import Index, cosine
from bio_mcp.adapters.opensearch.passages import lexical_body, semantic_body
from bio_mcp.adapters.opensearch.schema import DOMAIN, SERVERLESS
from bio_mcp.call import call
from bio_mcp.retrieval.passages import Filters, PassageQuery
from bio_mcp.tools.search import rag_search
from tests.adapters.entries import entry, unit
from tests.adapters.opensearch.fake import OPEN, Scripted, item
from tests.support.memory_corpus import Corpus


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


def test_a_search_that_may_only_read_says_that_an_empty_domain_holds_no_paper():
    class ReadOnly(Scripted):
        """A domain without an index, for a role that may only GET."""

        def urlopen(self, method, path, body, **options):
            missing = (404, {"error": {"type": "index_not_found_exception"}})
            self.answers = [missing if method == "GET" else (403, {"message": "not authorized"})]
            return super().urlopen(method, path, body, **options)

    corpus, server = Corpus(), ReadOnly()
    corpus.passages = server.passages()
    body = call(rag_search, {"query": "aspirin"}, corpus).body
    assert body["results"] == []
    assert "The corpus is empty" in " ".join(body["warnings"])
    assert {method for method, *_ in server.asked} == {"GET"}


def page(*hits):
    return {"timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}, "hits": {"hits": list(hits)}}


def test_nothing_to_look_for_asks_nothing():
    server = Scripted((200, OPEN))
    assert server.passages().hybrid_search(PassageQuery((), None)) == []
    assert len(server.asked) == 1
    assert lexical_body(PassageQuery((("x", 0.0),), None)) is None


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
    knn, of_all = (
        semantic_body(each, unit(1), Index("corpus-1", "model-a", 8))["query"]["nested"]["query"]["knn"][
            "windows.vector"
        ]
        for each in (query, PassageQuery((), unit(1)))
    )
    assert knn["filter"]["bool"]["filter"] == wanted
    assert lexical_body(query)["query"]["bool"]["filter"] == wanted
    assert "filter" not in of_all


@pytest.mark.parametrize("product", [1.0, 0.5, 0.0, -0.25, -1.0])
def test_a_score_gives_back_the_cosine(product):
    score = 1 + product if product >= 0 else 1 / (1 - product)
    assert cosine(score) == pytest.approx(product)
