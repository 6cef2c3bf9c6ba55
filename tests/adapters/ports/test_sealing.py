"""What is in a project cannot be reached from another, and does not move a score there."""

import threading

from bio_mcp.retrieval.project_chunks import ChunkQuery
from tests.adapters.chunks import document, store
from tests.adapters.entries import DIM, unit
from tests.support.sealing import MINE, QUERY, VICTIM, attempts, fill, leaked, state

OTHERS = 50


def test_a_thousand_attempts_to_read_another_project_fail(collections):
    before, count = fill(collections), 0
    assert leaked(before[0]) == before[0] != []
    for attempt in attempts():
        assert leaked(attempt(collections)) == []
        count += 1
    assert count >= 1_000
    assert state(collections) == before
    assert leaked(collections.sample(MINE, 100)) == []


def test_nothing_of_a_project_is_found_from_another_while_it_is_deleted_and_made_again(collections):
    fill(collections)
    done, seen = threading.Event(), []

    def ask():
        while not done.is_set():
            seen.append(leaked(match.chunk for match in collections.search(MINE, QUERY)))
            seen.append(leaked([*collections.document(MINE, "d1"), *collections.sample(MINE, 9)]))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(10):
            collections.drop(VICTIM)
            assert collections.search(VICTIM, QUERY) == []
            fill(collections)
    finally:
        done.set()
        asking.join()
    assert len(seen) > 10
    assert not any(seen)


def test_scores_of_a_project_are_the_same_alone_and_beside_fifty_others(collections):
    query = ChunkQuery((("heart", 1.0), ("failur", 0.5), ("common", 1.0)), unit(3))

    def scores():
        return {match.chunk.chunk_id: (match.bm25, match.sim) for match in collections.search(MINE, query)}

    collections.create(MINE, "m", DIM)
    store(collections, MINE, document("d1", "heart failure", "heart", "common words"), document("d2", "common"))
    alone = scores()
    for n in range(OTHERS):
        collections.create(f"proj-other-{n:02}", "m", DIM)
        store(collections, f"proj-other-{n:02}", document("d1", "heart failure " * (n + 1), f"common {n}", "common"))
    assert len(alone) == 4
    assert scores() == alone
