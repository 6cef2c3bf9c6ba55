"""What is sent to OpenSearch for projects: below names that begin with the corpus's and a dot, and nothing else."""

import numpy as np
import pytest

from bio_mcp.adapters.opensearch.chunks import CHUNKS, chunk_from, document_of, key_of
from bio_mcp.adapters.opensearch.collections import OpenSearchCollections
from bio_mcp.adapters.opensearch.schema import DOMAIN, SERVERLESS, Layout
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.retrieval.project_chunks import ChunkFilters, ChunkQuery
from tests.adapters.chunks import chunk, document, vectors
from tests.adapters.entries import DIM, unit
from tests.adapters.opensearch.fake import Scripted, item
from tests.support.sealing import NAMES

ONE = "proj-lab-heart"
INDEX = "corpus.proj-lab-heart~abc~1"
OPEN = {
    INDEX: {
        "mappings": {"_meta": {"fingerprint": "model-a", "dim": DIM}},
        "settings": {"index": {"creation_date": "1700000000000"}},
    }
}
SHARDS = {"total": 1, "successful": 1, "failed": 0}
NOTHING = {"timed_out": False, "_shards": SHARDS, "hits": {"total": {"value": 0}, "hits": []}}
IMPOSSIBLE = [name for name in NAMES if set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789._-")]
OWN = (f"{ONE}~next", f"{ONE}~abc~1", f"{ONE}~abc~1~own", "corpus~x", ".kibana", "-proj", f"{ONE},{ONE}", "x" * 200)


def collections(server, flavour=DOMAIN):
    return OpenSearchCollections(server.transport(), "corpus", Layout(flavour, contents=CHUNKS))


@pytest.mark.parametrize("name", [*IMPOSSIBLE, *OWN])
def test_what_cannot_be_a_collection_is_never_sent(name):
    server = Scripted()
    made = collections(server)
    one = document("d1", "text")
    assert made.search(name, ChunkQuery((("text", 1.0),), unit(1))) == made.document(name, "d1") == []
    assert (made.model(name), made.count(name), made.drop(name)) == (None, 0, False)
    with pytest.raises(NotFound):
        made.upsert(name, one, vectors(one))
    with pytest.raises(InvalidInput, match="cannot be the name of a collection"):
        made.create(name, "model-a", DIM)
    assert server.asked == []


def test_a_search_looks_at_the_index_of_one_collection_and_compares_every_vector():
    server = Scripted((200, OPEN), (200, {"responses": [NOTHING, NOTHING]}))
    filters = ChunkFilters(tags=frozenset({"Heart"}), section_prefix="Part I", year_from=2020)
    assert collections(server).search(ONE, ChunkQuery((("text", 1.0),), unit(1), filters)) == []
    method, path, (head, lexical, _, semantic) = server.asked[1]
    assert (method, path) == ("GET", f"/{INDEX}/_msearch")
    assert head == {"search_type": "dfs_query_then_fetch", "allow_partial_search_results": False}
    passing = [{"range": {"year": {"gte": 2020}}}, {"term": {"tags": "heart"}}, {"prefix": {"section": "part i"}}]
    assert lexical["query"]["bool"]["filter"] == passing
    script = semantic["query"]["script_score"]
    assert script["query"] == {"bool": {"filter": passing}}
    assert script["script"]["source"] == "knn_score"
    assert lexical["sort"] == semantic["sort"] == ["_score", {"chunk_id": "asc"}]


def test_serverless_looks_for_near_vectors_in_a_graph_and_is_written_as_it_can_be():
    server = Scripted((200, OPEN), (200, {"responses": [NOTHING]}))
    collections(server, SERVERLESS).search(ONE, ChunkQuery((), unit(1)))
    [_, body] = server.asked[1][2]
    assert body["query"]["knn"]["vector"]["k"] == 200
    mapping = Layout(SERVERLESS, contents=CHUNKS).body("m", DIM, "BM25")
    assert mapping["mappings"]["properties"]["vector"]["method"]["engine"] == "faiss"
    assert "refresh_interval" not in mapping["settings"]["index"]
    [one] = document("d1", "text")
    key = key_of(one.chunk_id)
    absent = {"docs": [{"_id": key, "found": False}]}
    server = Scripted((200, OPEN), (200, absent), (200, {"items": [item(key, 201)]}), (200, OPEN))
    collections(server, SERVERLESS).upsert(ONE, [one], vectors([one]))
    assert [path for _, path, _ in server.asked][2] == f"/{INDEX}/_bulk"


def test_a_write_makes_no_index_and_is_seen_as_a_whole():
    [one] = document("d1", "text")
    server = Scripted(
        (200, OPEN),
        (200, {"docs": [{"_id": key_of(one.chunk_id), "found": False}]}),
        (200, {"items": [item(key_of(one.chunk_id), 201)]}),
        (200, {"_shards": SHARDS}),
        (200, OPEN),
    )
    collections(server).upsert(ONE, [one], vectors([one]))
    assert [(method, path) for method, path, _ in server.asked] == [
        ("GET", "/corpus.proj-lab-heart"),
        ("GET", f"/{INDEX}/_mget"),
        ("POST", f"/{INDEX}~own/_bulk?require_alias=true"),
        ("POST", f"/{INDEX}~own/_refresh"),
        ("GET", "/corpus.proj-lab-heart"),
    ]


def test_what_is_stored_already_is_not_written_again():
    [one] = document("d1", "text")
    there = document_of(one, vectors([one])["d1-0"])["unindexed"]
    stored = {"docs": [{"_id": key_of(one.chunk_id), "found": True, "_source": {"unindexed": there}}]}
    server = Scripted((200, OPEN), (200, stored), (200, {"_shards": SHARDS}), (200, OPEN))
    collections(server).upsert(ONE, [one], vectors([one]))
    assert not [path for _, path, _ in server.asked if "_bulk" in path]


def test_a_chunk_is_stored_as_text_so_that_nothing_in_it_is_a_field():
    hostile = chunk("c\x00", "text", metadata={"": {"a.b": [1, None]}, "_id": "x", "$where": "1"}, section="x" * 90_000)
    made = document_of(hostile, unit(1))
    assert chunk_from(made) == hostile
    assert isinstance(made["unindexed"]["chunk"], str)
    assert len(made["section"]) == 2_000


def test_values_too_long_for_a_term_are_compared_by_their_hash():
    tag = "t" * 40_000
    made = document_of(chunk("c", work={"tags": (tag, "short")}), unit(1))
    [hashed] = [each for each in made["tags"] if each != "short"]
    assert hashed.startswith("sha256:")
    server = Scripted((200, OPEN), (200, {"responses": [NOTHING]}))
    collections(server).search(ONE, ChunkQuery((), unit(1), ChunkFilters(tags=frozenset({tag.upper()}))))
    query = server.asked[1][2][1]["query"]["script_score"]["query"]
    assert query["bool"]["filter"] == [{"term": {"tags": hashed}}]


def test_an_id_that_is_too_long_to_be_sorted_by_is_refused():
    with pytest.raises(InvalidInput, match="512 bytes, not 600"):
        document_of(chunk("ü" * 300), np.zeros(DIM, np.float32))
