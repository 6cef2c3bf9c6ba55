"""Making and replacing the index behind the alias, on a real node, which is the pinned one."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

from bio_mcp.errors import Conflict, IndexUnavailable, ModelMismatch
from bio_mcp.retrieval.passages import Filters, PassageQuery
from tests.adapters.entries import DIM, entry, unit
from tests.support.opensearch_node.artefacts import Unusable, _compare
from tests.support.opensearch_node.passages import passages_at


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


def test_the_node_is_the_pinned_version_and_listens_on_loopback_only(opensearch):
    assert httpx.get(opensearch.url).json()["version"]["number"] == "2.19.1"
    nodes = httpx.get(f"{opensearch.url}/_nodes/http").json()["nodes"].values()
    assert [each["http"]["bound_address"] for each in nodes] == [[opensearch.url.removeprefix("http://")]]


def test_a_jar_that_is_not_the_pinned_one_is_refused(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.jar").write_bytes(b"other")
    with pytest.raises(Unusable, match=r"lib/a\.jar"):
        _compare(tmp_path, f"{'0' * 64}  lib/a.jar\n")
    with pytest.raises(Unusable, match=r"lib/b\.jar"):
        _compare(tmp_path, f"{'0' * 64}  lib/b.jar\n")
