"""Making, replacing and rebuilding the index behind the alias, on a real node."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import httpx
import numpy as np
import pytest

from bio_mcp.adapters.opensearch.reindex import rebuild
from bio_mcp.adapters.opensearch.schema import DOMAIN, Layout
from bio_mcp.errors import Conflict, IndexUnavailable, ModelMismatch
from bio_mcp.retrieval.passages import Filters, PassageQuery
from tests.adapters.entries import DIM, entry, unit
from tests.opensearch_node.passages import passages_at

LAYOUT = Layout(DOMAIN, 1.2, 0.5, replicas=0)


def beside(passages):
    """The same corpus as another process sees it."""
    return passages_at(passages.url, alias=passages.alias.name)


@pytest.fixture
def passages(opensearch):
    made = passages_at(opensearch.url)
    made.url = opensearch.url
    return made


def indices(passages):
    found = httpx.get(f"{passages.url}/_cat/indices/{passages.alias.name}-*?format=json").json()
    return sorted(each["index"] for each in found)


def found(passages, text="x", **more):
    return {each.pmid for each in passages.hybrid_search(PassageQuery(((text, 1.0),), None, **more))}


def test_processes_that_make_the_index_at_once_make_one(passages):
    several = [beside(passages) for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda each: each.ensure_schema("model-a", DIM), several))
    assert len(indices(passages)) == 1
    for number, each in enumerate(several, 1):
        each.upsert_chunks([entry(str(number), "x")])
    assert passages.count() == (6, 6)


def test_of_two_models_made_at_once_one_index_is_searched_and_no_write_is_lost_unnoticed(passages):
    models = ["model-a", "model-b"] * 2

    def work(model, number):
        mine = beside(passages)
        try:
            mine.ensure_schema(model, DIM)
            mine.upsert_chunks([entry(str(number), "x")])
        except (ModelMismatch, Conflict, IndexUnavailable):
            return None
        return str(number)

    with ThreadPoolExecutor(4) as threads:
        written = list(threads.map(work, models, range(1, 5)))
    assert len(passages.alias._behind()) == 1
    assert {pmid for pmid in written if pmid} <= set(passages.chunk_texts(["1", "2", "3", "4"]))


def test_a_process_that_knew_an_older_index_says_so_when_it_writes(passages):
    late = beside(passages)
    for each in (passages, late):
        each.ensure_schema("model-a", DIM)
    passages.ensure_schema("model-b", DIM)
    with pytest.raises((IndexUnavailable, Conflict)):
        late.upsert_chunks([entry("1", "x")])
    assert len(indices(passages)) == 1
    passages.upsert_chunks([entry("1", "x")])
    with pytest.raises(ModelMismatch):
        late.ensure_schema("model-a", DIM)


def test_what_is_not_ours_is_left_alone(passages):
    httpx.put(f"{passages.url}/{passages.alias.name}").raise_for_status()
    with pytest.raises(IndexUnavailable, match="not made by bio-mcp"):
        passages.ensure_schema("model-a", DIM)


def test_vectors_are_not_searched_by_another_models_index_of_the_same_length(passages):
    passages.ensure_schema("model-a", DIM)
    passages.upsert_chunks([entry("1", "x")])
    other = beside(passages)
    with pytest.raises(ModelMismatch):
        other.ensure_schema("model-b", DIM)


class Store:
    """What the documents say, to index anew from: PMID -> version and words."""

    def __init__(self, count):
        self.documents = {str(pmid): (1, "x") for pmid in range(1, count + 1)}

    def entries(self, pmids, seed):
        stored = ((pmid, *self.documents[pmid]) for pmid in pmids if pmid in self.documents)
        return [entry(pmid, text, version=version, vectors=[unit(int(pmid) + seed)]) for pmid, version, text in stored]

    def reindex(self, pmids, passages):
        passages.upsert_chunks(self.entries(pmids, 1_000))


@pytest.fixture
def store():
    return Store(700)


@pytest.fixture
def filled(passages, store):
    passages.ensure_schema("model-a", DIM)
    passages.upsert_chunks(store.entries(store.documents, 0))
    return passages


def test_a_rebuilt_index_replaces_the_old_one_while_searches_go_on(filled, store):
    reader, over, seen = beside(filled), Event(), []

    def poll():
        while not over.is_set():
            reader.alias.forget()
            seen.append(len(found(reader, depth=1_000)))

    with ThreadPoolExecutor(1) as threads:
        polling = threads.submit(poll)
        new = rebuild(filled, filled.following(), "model-b", DIM, store.reindex)
        over.set()
        polling.result()
    assert set(seen) == {700}
    assert filled.alias.refresh() == new
    filled.ensure_schema("model-b", DIM)
    assert filled.chunks(["7"], unit(1_007))["7"][0].sim == pytest.approx(1)
    with pytest.raises(ModelMismatch):
        beside(filled).ensure_schema("model-a", DIM)


def test_what_is_written_and_deleted_while_an_index_is_rebuilt_is_not_lost(filled, store):
    passes = []

    def reindex_and_change(pmids, passages):
        store.reindex(pmids, passages)
        if not passes:
            store.documents |= {"3": (2, "y"), "9000": (1, "y")}
            del store.documents["5"]
            filled.upsert_chunks(store.entries(["3", "9000"], 0))
            filled.delete(["5"])
        passes.append(len(pmids))

    rebuild(filled, filled.following(), "model-b", DIM, reindex_and_change)
    assert found(filled, "y") == {"3", "9000"}
    assert found(filled, depth=1_000) == store.documents.keys() - {"3", "9000"}
    assert filled.count() == (700, 700)


def test_a_rebuild_that_was_stopped_goes_on_where_it_was(filled, store):
    def stopped(pmids, passages):
        store.reindex(pmids[:300], passages)
        raise IndexUnavailable("stopped")

    with pytest.raises(IndexUnavailable, match="stopped"):
        rebuild(filled, filled.following(), "model-b", DIM, stopped)
    assert found(filled, depth=1_000) == store.documents.keys()
    filled.upsert_chunks([entry("701", "x")])
    store.documents["701"] = (1, "x")
    written = []
    following = filled.following()
    rebuild(filled, following, "model-b", DIM, lambda pmids, to: (written.extend(pmids), store.reindex(pmids, to)))
    assert len(written) == 401
    assert filled.count() == (701, 701)


def test_a_rebuild_that_fails_in_its_last_pass_lets_writes_go_on(filled, store):
    def fails_when_blocked(pmids, passages):
        if pmids == ["800"]:
            raise IndexUnavailable("stopped")
        store.reindex(pmids, passages)
        if "1" in pmids:
            filled.upsert_chunks([entry("800", "x")])

    with pytest.raises(IndexUnavailable, match="stopped"):
        rebuild(filled, filled.following(), "model-b", DIM, fails_when_blocked)
    filled.upsert_chunks([entry("801", "x")])
    assert filled.count()[0] == 702


def test_writers_of_the_old_model_are_refused_after_the_switch_and_there_is_a_way_back(filled, store):
    late = beside(filled)
    late.ensure_schema("model-a", DIM)
    old = filled.alias.refresh()
    new = rebuild(filled, filled.following(), "model-b", DIM, store.reindex)
    with pytest.raises((IndexUnavailable, Conflict)):
        late.upsert_chunks([entry("1", "late", version=9)])
    assert found(filled, "late") == set()
    filled.alias.switch(new, old)
    filled.alias.block(old, blocked=False)
    late.ensure_schema("model-a", DIM)
    late.upsert_chunks([entry("1", "late", version=9)])
    assert found(late, "late") == {"1"}


def test_the_same_model_is_rebuilt_in_another_generation_with_other_shards(filled, store):
    with pytest.raises(Conflict, match="generation"):
        rebuild(filled, filled.following(), "model-a", DIM, store.reindex)
    another = filled.following(replace(LAYOUT, shards=3, generation=2))
    rebuild(filled, another, "model-a", DIM, store.reindex)
    assert filled.count() == (700, 700)


def test_there_is_nothing_to_rebuild_before_there_is_an_index(passages, store):
    with pytest.raises(IndexUnavailable, match="no index"):
        rebuild(passages, passages.following(), "model-a", DIM, store.reindex)


def test_several_shards_rank_as_one_does(opensearch):
    one, three = (passages_at(opensearch.url, shards=shards) for shards in (1, 3))
    rng = np.random.default_rng(5)
    batch = [
        entry(str(pmid), " ".join(f"t{n}" for n in rng.zipf(1.4, 40) % 50), year=2000 + pmid % 20)
        for pmid in range(1, 301)
    ]
    for passages in (one, three):
        passages.ensure_schema("model-a", DIM)
        passages.upsert_chunks(batch)
    for seed in range(10):
        words = tuple((f"t{n}", 1.0) for n in rng.integers(1, 50, 4))
        query = PassageQuery(words, unit(seed), Filters(year_from=2003), 20)
        got, wanted = ({each.pmid: each for each in passages.hybrid_search(query)} for passages in (three, one))
        assert got.keys() == wanted.keys()
        for pmid, each in wanted.items():
            assert got[pmid].bm25 == (each.bm25 and pytest.approx(each.bm25, abs=1e-5))
            assert got[pmid].sim == (each.sim and pytest.approx(each.sim, abs=1e-5))
