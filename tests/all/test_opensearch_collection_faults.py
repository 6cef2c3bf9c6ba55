"""What becomes of projects when OpenSearch is overloaded, cut off, full, or loses an index: never an empty answer."""

import httpx
import numpy as np
import pytest

from bio_mcp.errors import Conflict, IndexUnavailable, NotFound
from bio_mcp.health import OK, WARN
from bio_mcp.retrieval.project_chunks import ChunkQuery
from tests.adapters.chunks import document, store
from tests.adapters.entries import DIM, unit
from tests.support.opensearch_node.collections import collections_at
from tests.support.opensearch_node.proxy import between, changed, cut, refuse

ONE = "proj-lab-heart"
OLD = document("d1", "text one", "text two", "text three")


@pytest.fixture
def proxy(opensearch):
    with between(opensearch.url) as made:
        yield made


@pytest.fixture
def collections(proxy):
    made = collections_at(proxy.url)
    made.create(ONE, "model-a", DIM)
    store(made, ONE, OLD)
    return made


def found(collections):
    matches = collections.search(ONE, ChunkQuery((("text", 1.0),), unit(1)))
    return {match.chunk.chunk_id for match in matches}


def by_place(texts):
    return np.stack([unit(n) for n in range(len(texts))])


def fail_a_shard(response):
    response["_shards"] |= {"failed": 1, "successful": 0}


FAULTS = {  # tests/all/test_opensearch_faults.py has the others, of what both indexes are read and written by
    "the node is gone": cut,
    "a shard failed": changed(lambda answer: fail_a_shard(answer["responses"][0])),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_search_that_is_not_answered_whole_is_tried_again_and_then_an_error(collections, proxy, fault):
    proxy.on, proxy.faults = "_msearch", [fault]
    assert found(collections) == {"d1-0", "d1-1", "d1-2"}
    proxy.faults = [fault] * 99
    with pytest.raises(IndexUnavailable) as raised:
        found(collections)
    assert raised.value.retryable


READS = {
    "document": lambda collections: collections.document(ONE, "d1"),
    "hashes": lambda collections: collections.hashes(ONE, "d1"),
    "sample": lambda collections: collections.sample(ONE, 5),
    "count": lambda collections: collections.count(ONE),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("fault", [cut, refuse(429), changed(fail_a_shard)], ids=["gone", "429", "a shard failed"])
def test_what_is_read_in_part_is_an_error(collections, proxy, read, fault):
    whole = read(collections)
    proxy.on, proxy.faults = "_search", [fault]
    assert read(collections) == whole
    proxy.faults = [fault] * 99
    with pytest.raises(IndexUnavailable):
        read(collections)


@pytest.mark.parametrize("on", ["proj-lab-heart", "_bulk", "_refresh"])
def test_a_node_that_is_gone_is_an_error_for_whoever_writes_or_asks_for_the_model(collections, proxy, on):
    proxy.on, proxy.faults = on, [cut] * 99
    with pytest.raises(IndexUnavailable):
        store(collections, ONE, document("d2", "text"))
    if on == "proj-lab-heart":
        with pytest.raises(IndexUnavailable):
            collections.model(ONE)


@pytest.mark.parametrize("done", range(3))
def test_a_call_that_was_killed_anywhere_is_healed_by_repeating_it(collections, proxy, done):
    """After the first refresh: as the new chunks are sent, as the leftover is deleted, as both are to be seen."""
    through = [lambda asked: asked.forward()] * done
    proxy.on, proxy.faults = "~own", [lambda asked: asked.forward(), *through, *[cut] * 99]
    new = document("d1", "new one", "new two")
    with pytest.raises(IndexUnavailable):
        store(collections, ONE, new)
    proxy.faults = []
    other = document("d1", "newer")
    store(collections, ONE, other)
    assert collections.document(ONE, "d1") == other
    assert found(collections) == {"d1-0"}
    assert collections.count(ONE) == 1


def test_an_index_that_is_lost_beneath_is_an_error_and_not_an_empty_answer(collections, opensearch):
    assert found(collections)
    index = collections.alias(ONE).index().name
    httpx.delete(f"{opensearch.url}/{index}").raise_for_status()
    with pytest.raises(IndexUnavailable, match="its index lost"):
        found(collections)
    assert collections.model(ONE) is None
    with pytest.raises(NotFound, match=ONE):
        store(collections, ONE, document("d2", "text"))


def test_an_index_that_is_replaced_beneath_is_searched_at_once(collections, opensearch):
    assert found(collections)
    beside = collections_at(opensearch.url, collections.corpus)
    beside.rebuild(ONE, "model-b", DIM, by_place)
    store(beside, ONE, document("d2", "text of another process"))
    assert found(collections) == {"d1-0", "d1-1", "d1-2", "d2-0"}


def test_a_rebuild_that_was_killed_leaves_a_collection_that_is_read_and_the_next_one_ends_it(collections, proxy):
    """Killed as the old index would be removed: it is blocked, and both are behind the alias."""

    def removing(asked):
        return cut(asked) if asked.method == "DELETE" and "_alias" not in asked.path else asked.forward()

    alias = collections.alias(ONE)
    old = alias.refresh()
    proxy.faults = [removing] * 999
    with pytest.raises(IndexUnavailable):
        collections.rebuild(ONE, "model-b", DIM, by_place)
    proxy.faults = []
    alias.block(old)  # as a process leaves it that cannot even take the block back
    assert (collections.model(ONE), found(collections)) == (("model-a", DIM), {"d1-0", "d1-1", "d1-2"})
    with pytest.raises(Conflict, match="rebuild it again"):
        store(collections, ONE, document("d2", "text"))
    collections.rebuild(ONE, "model-c", DIM, by_place)
    assert collections.model(ONE) == ("model-c", DIM)
    store(collections, ONE, document("d2", "text"))
    assert found(collections) == {"d1-0", "d1-1", "d1-2", "d2-0"}


def test_a_domain_without_room_for_another_index_says_so_and_so_does_the_doctor(collections, opensearch):
    settings = f"{opensearch.url}/_cluster/settings"
    finding = collections.inspect()
    assert (finding.state, finding.remedy) == (OK, "")
    assert finding.found.startswith("1 projects; ")
    httpx.put(settings, json={"transient": {"cluster.max_shards_per_node": 1}}).raise_for_status()
    try:
        with pytest.raises(IndexUnavailable, match="no room for another project's index") as raised:
            collections.create("proj-one-more", "model-a", DIM)
        assert not raised.value.retryable
        finding = collections.inspect()
        assert finding.state == WARN
        assert "of 1 that 1 data nodes may hold" in finding.found
        assert "room for 0 more projects" in finding.found
    finally:
        httpx.put(settings, json={"transient": {"cluster.max_shards_per_node": None}}).raise_for_status()
    collections.create("proj-one-more", "model-a", DIM)
    assert collections.inspect().found.startswith("2 projects; ")
