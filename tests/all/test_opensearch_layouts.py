"""Indexes of 1,500 papers on a real node, by how they have their vectors: what they find beside exact comparison."""

import numpy as np
import pytest

from bio_mcp.retrieval.passages import Filters, PassageQuery
from tests.adapters.entries import entry
from tests.support.opensearch_node.passages import passages_at

DIM, COUNT, WANTED = 32, 1_500, 50


@pytest.fixture(scope="module")
def papers():
    """Three windows a paper, near a direction that is the paper's own, around one of forty topics."""
    rng = np.random.default_rng(16)
    topics = rng.standard_normal((40, DIM))
    found = {}
    for pmid in range(1, COUNT + 1):
        windows = topics[pmid % 40] + rng.standard_normal(DIM) + 0.7 * rng.standard_normal((3, DIM))
        found[str(pmid)] = (windows / np.linalg.norm(windows, axis=1, keepdims=True)).astype(np.float32)
    return found


@pytest.mark.parametrize(("layout", "least"), [("float", 0.995), ("byte", 0.995), ("paper", 0.97)])
def test_the_nearest_papers_are_found_and_have_the_exact_cosine_of_their_best_window(opensearch, papers, layout, least):
    passages = passages_at(opensearch.url, vectors=layout)
    passages.ensure_schema("model-a", DIM)
    passages.upsert_chunks(
        [entry(pmid, vectors=list(rows), year=2000 + int(pmid) % 10) for pmid, rows in papers.items()]
    )
    recalls = []
    for seed in range(20):
        vector = papers[str(1 + 70 * seed)][0]
        for filters in (Filters(), Filters(year_from=2005)):
            exact = {
                pmid: float((rows @ vector).max())
                for pmid, rows in papers.items()
                if 2000 + int(pmid) % 10 >= (filters.year_from or 0)
            }
            best = sorted(exact, key=exact.__getitem__, reverse=True)[:WANTED]
            found = {each.pmid: each for each in passages.hybrid_search(PassageQuery((), vector, filters, WANTED))}
            recalls.append(len(found.keys() & set(best)) / WANTED)
            for pmid, each in found.items():
                assert each.sim == pytest.approx(exact[pmid], abs=1e-5)
                assert each.chunk_id == f"w{(papers[pmid] @ vector).argmax()}"
    assert np.mean(recalls) >= least


@pytest.mark.parametrize("layout", ["float", "byte", "paper"])
def test_each_paper_of_a_list_has_its_exact_cosine_after_others_were_rewritten_and_deleted(opensearch, papers, layout):
    passages = passages_at(opensearch.url, vectors=layout)
    passages.ensure_schema("model-a", DIM)
    some = {pmid: papers[pmid] for pmid in map(str, range(1, 301))}
    for at in range(0, 300, 100):  # a segment each
        passages.upsert_chunks([entry(pmid, vectors=list(some[pmid])) for pmid in list(some)[at : at + 100]])
    some |= {str(pmid): papers[str(pmid + 300)] for pmid in range(1, 300, 7)}
    passages.upsert_chunks([entry(str(pmid), vectors=list(some[str(pmid)]), version=2) for pmid in range(1, 300, 7)])
    passages.delete([str(pmid) for pmid in range(5, 300, 9)])
    left = [pmid for pmid in some if int(pmid) % 9 != 5]
    rng = np.random.default_rng(3)
    for count in (1, 2, 20, 150, len(left)):
        within = frozenset(rng.choice(left, count, replace=False).tolist())
        vector = papers[str(1_000 + count)][1]
        found = {each.pmid: each for each in passages.hybrid_search(PassageQuery((), vector, depth=300, within=within))}
        assert found.keys() == within
        for pmid, each in found.items():
            assert each.sim == pytest.approx(float((some[pmid] @ vector).max()), abs=1e-5)
            assert each.chunk_id == f"w{(some[pmid] @ vector).argmax()}"


def test_an_index_goes_on_as_it_was_made_whatever_is_set_by_then(opensearch, papers):
    some = dict(list(papers.items())[:20])
    made = passages_at(opensearch.url, vectors="paper")
    made.ensure_schema("model-a", DIM)
    later = passages_at(opensearch.url, alias=made.alias.name, vectors="byte")
    later.upsert_chunks([entry(pmid, vectors=list(rows)) for pmid, rows in some.items()])
    vector = some["7"][1]
    [best] = later.hybrid_search(PassageQuery((), vector, Filters(), 1))
    assert (best.pmid, best.chunk_id, best.sim) == ("7", "w1", pytest.approx(1, abs=1e-5))
