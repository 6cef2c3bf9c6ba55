"""What OpenSearch does when it is overloaded, cut off or killed, and that nothing is lost by it."""

import httpx
import pytest

from bio_mcp.errors import IndexUnavailable
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.syncing.applying import apply_records
from tests.adapters.entries import DIM, entry, unit
from tests.support.corpus import Corpus
from tests.support.opensearch_node.jvm import start
from tests.support.opensearch_node.passages import passages_at
from tests.support.opensearch_node.proxy import between, changed, cut, cut_after, half, refuse, some, unreadable
from tests.support.sample_corpus import articles

TEN = [str(pmid) for pmid in range(1, 11)]


@pytest.fixture
def proxy(opensearch):
    with between(opensearch.url) as made:
        yield made


@pytest.fixture
def passages(proxy):
    made = passages_at(proxy.url)
    made.ensure_schema("model-a", DIM)
    return made


def found(passages, text="aspirin", vector=None):
    query = PassageQuery(tuple((word, 1.0) for word in text.split()), vector)
    return {each.pmid for each in passages.hybrid_search(query)}


def ten(version=1, text="aspirin"):
    return [entry(pmid, text, version=version) for pmid in TEN]


PASSING = {
    "429 for a request": [refuse(429)] * 3,
    "503 for a request": [refuse(503)],
    "half a bulk request refused": [half(429)],
    "half of it again and again": [half(429), half(503), half(429)],
    "cut off before": [cut, cut],
    "cut off after it was done": [cut_after],
    "an answer cut short": [unreadable],
    "an answer with an item missing": [changed(lambda answer: answer["items"].pop())],
    "everything at once": [refuse(429), half(429), cut_after, half(503)],
}


@pytest.mark.parametrize("faults", PASSING.values(), ids=PASSING)
def test_what_is_refused_for_the_moment_is_written_all_the_same(passages, proxy, faults):
    passages.upsert_chunks([entry(pmid, "heparin") for pmid in TEN[:5]])
    proxy.on, proxy.faults = "_bulk", list(faults)
    passages.upsert_chunks(ten(version=2))
    assert not proxy.faults
    assert found(passages) == set(TEN)
    assert found(passages, "heparin") == set()
    assert passages.count() == (10, 10)


@pytest.mark.parametrize("faults", PASSING.values(), ids=PASSING)
def test_what_is_refused_for_the_moment_is_deleted_all_the_same(passages, proxy, faults):
    passages.upsert_chunks(ten())
    proxy.on, proxy.faults = "_bulk", list(faults)
    passages.delete(TEN)
    assert not proxy.faults
    assert passages.count() == (0, 0)


def test_what_stays_refused_is_an_error_that_counts_it_and_the_rest_is_safe(passages, proxy):
    proxy.on, proxy.faults = "_bulk", [some(429, TEN[:3])] * 99
    with pytest.raises(IndexUnavailable, match="3 of 10 documents could not be written") as raised:
        passages.upsert_chunks(ten())
    assert raised.value.retryable
    assert raised.value.details["unwritten"] == 3
    assert found(passages) == set(TEN[3:])
    proxy.faults = []
    passages.upsert_chunks(ten())
    assert found(passages) == set(TEN)


def test_an_item_that_will_never_be_taken_is_not_tried_again(passages, proxy):
    proxy.on, proxy.faults = "_bulk", [half(400)]
    with pytest.raises(IndexUnavailable, match="5 of 10") as raised:
        passages.upsert_chunks(ten())
    assert not raised.value.retryable
    assert sum("_bulk" in each for each in proxy.seen) == 1


def fail_a_shard(response):
    response["_shards"] |= {"failed": 1, "successful": 0}


def lose_a_shard(response):
    response["_shards"] |= {"total": 3, "successful": 2}


def refuse_a_search(response):
    response.clear()
    response |= {"error": {"type": "search_phase_execution_exception", "root_cause": []}, "status": 503}


SEARCHES = {
    "a shard failed": lambda answer: fail_a_shard(answer["responses"][0]),
    "a shard failed in the second leg": lambda answer: fail_a_shard(answer["responses"][1]),
    "a shard is not there": lambda answer: lose_a_shard(answer["responses"][1]),
    "time ran out": lambda answer: answer["responses"][0].update(timed_out=True),
    "a leg is missing": lambda answer: answer["responses"].pop(),
    "a leg was refused": lambda answer: refuse_a_search(answer["responses"][1]),
}


@pytest.mark.parametrize("change", SEARCHES.values(), ids=SEARCHES)
def test_a_search_answered_in_part_is_tried_again_and_then_an_error_but_never_a_shorter_list(passages, proxy, change):
    passages.upsert_chunks(ten())
    proxy.on, proxy.faults = "_msearch", [changed(change)]
    assert found(passages, vector=unit(1)) == set(TEN)
    proxy.faults = [changed(change)] * 99
    with pytest.raises(IndexUnavailable) as raised:
        found(passages, vector=unit(1))
    assert raised.value.retryable


def fail_a_document(answer):
    answer["docs"][0] = {"_id": answer["docs"][0]["_id"], "error": {"type": "no_shard_available_action_exception"}}


@pytest.mark.parametrize("change", [fail_a_document, lambda answer: answer["docs"].pop()], ids=["error", "missing"])
@pytest.mark.parametrize("read", ["chunks", "chunk_texts", "document_vectors"])
def test_documents_read_in_part_are_an_error_and_never_taken_for_unknown(passages, proxy, change, read):
    passages.upsert_chunks(ten())
    proxy.on, proxy.faults = "_mget", [changed(change)]
    assert set(getattr(passages, read)(TEN)) == set(TEN)
    proxy.faults = [changed(change)] * 99
    with pytest.raises(IndexUnavailable):
        getattr(passages, read)(TEN)
    with pytest.raises(IndexUnavailable):
        passages.upsert_chunks(ten(version=2))


def test_a_count_in_part_is_an_error(passages, proxy):
    passages.upsert_chunks(ten())
    proxy.on, proxy.faults = "_search", [changed(fail_a_shard)] * 99
    with pytest.raises(IndexUnavailable, match="0 of 1 shards"):
        passages.count()


def test_the_nodes_own_breaker_is_an_error_and_nothing_is_lost(passages, opensearch):
    passages.upsert_chunks(ten())
    settings = f"{opensearch.url}/_cluster/settings"
    httpx.put(settings, json={"transient": {"indices.breaker.total.limit": "1mb"}}).raise_for_status()
    try:
        with pytest.raises(IndexUnavailable, match="429"):
            found(passages)
        with pytest.raises(IndexUnavailable):
            passages.upsert_chunks(ten(version=2, text="heparin"))
    finally:
        httpx.put(settings, json={"transient": {"indices.breaker.total.limit": None}}).raise_for_status()
    assert found(passages) == set(TEN)
    passages.upsert_chunks(ten(version=2, text="heparin"))
    assert found(passages, "heparin") == set(TEN)


def test_a_blocked_index_is_an_error_that_no_repetition_helps(passages, opensearch):
    index = passages.alias.refresh().name
    httpx.put(f"{opensearch.url}/{index}/_settings", json={"index.blocks.write": True}).raise_for_status()
    with pytest.raises(IndexUnavailable, match=r"10 of 10 .*cluster_block_exception"):
        passages.upsert_chunks(ten())


class OverOpenSearch(Corpus):
    """The embedded corpus, but for its passages."""

    def __init__(self, home, url):
        super().__init__(home)
        self.found_in = passages_at(url, alias="killed")

    @property
    def passages(self):
        return self.found_in


@pytest.mark.timeout(240)
def test_a_node_that_is_killed_in_the_middle_of_a_sync_loses_nothing(tmp_path):
    """kill -9 while a bulk request is on its way; the node comes back on its files, and the next run heals."""
    records = articles()
    node = start(tmp_path / "node")

    def kill_after(asked):
        asked.forward()
        node.kill()
        return cut(asked)

    try:
        with between(node.url) as proxy, OverOpenSearch(tmp_path / "home", proxy.url) as corpus:
            proxy.on, proxy.faults = "_bulk", [lambda asked: asked.forward(), kill_after]
            with pytest.raises(IndexUnavailable):
                in_eights(records, corpus)
            assert corpus.documents.count() == 16
        node = start(tmp_path / "node")
        with (
            OverOpenSearch(tmp_path / "home", node.url) as corpus,
            Corpus(tmp_path / "undisturbed") as undisturbed,
        ):
            assert corpus.passages.count()[0] >= 8
            in_eights(records, corpus)
            apply_records(records, undisturbed)
            assert_same(corpus, undisturbed, [each.pmid for each in records])
    finally:
        node.stop()


def in_eights(records, corpus):
    for first in range(0, len(records), 8):
        apply_records(records[first : first + 8], corpus)


def assert_same(one, other, pmids):
    assert one.passages.count() == other.passages.count()
    assert one.passages.chunk_texts(pmids) == other.passages.chunk_texts(pmids)
    heads = one.documents.heads(pmids)
    assert set(heads) == set(pmids)
    assert all(head.indexed_version == head.version for head in heads.values())
