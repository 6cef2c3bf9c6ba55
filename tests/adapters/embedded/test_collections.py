"""The indexes of projects in a corpus file that several programs use, that is put back, read-only, or gone."""

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bio_mcp.adapters.embedded.chunk_rows import head
from bio_mcp.adapters.embedded.collections import LOADED, LoadedCollections
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.integrity import check
from bio_mcp.adapters.embedded.live_index import FEW_DEAD
from bio_mcp.errors import Conflict, ModelMismatch, NotFound
from bio_mcp.retrieval.project_chunks import ChunkQuery
from tests.adapters.chunks import document, store
from tests.adapters.embedded.chunk_writer import SIZE
from tests.adapters.embedded.engine import collections_in
from tests.adapters.entries import DIM, unit
from tests.support.reference_indexes import ReferenceCollections

ROOT = Path(__file__).parents[3]
ONE = "proj-one"


@pytest.fixture
def database(tmp_path):
    return Database(tmp_path)


@pytest.fixture
def collections(database):
    made = collections_in(database)
    made.create(ONE, "m", DIM)
    return made


def found(collections, text="all", collection=ONE, depth=1_000):
    query = ChunkQuery(tuple((word, 1.0) for word in text.split()), unit(1), depth=depth)
    return {match.chunk.chunk_id: match for match in collections.search(collection, query) if match.bm25}


def test_what_another_process_writes_is_found_by_the_next_search(collections, tmp_path):
    other = collections_in(Database(tmp_path))
    store(collections, ONE, document("d1", "all"))
    assert set(found(other)) == {"d1-0"}
    store(collections, ONE, document("d1", "all new", "all"), document("d2", "all"))
    assert set(found(other, "new")) == {"d1-0"}
    assert set(found(other)) == {"d1-0", "d1-1", "d2-0"}
    store(other, ONE, document("d2", "none"))
    assert set(found(collections)) == {"d1-0", "d1-1"}
    collections.rebuild(ONE, "n", 3, lambda texts: np.stack([unit(2, 3)] * len(texts)))
    with pytest.raises(ModelMismatch):
        found(other)
    collections.drop(ONE)
    assert found(other) == {}
    collections.create(ONE, "m", DIM)
    store(collections, ONE, document("d9", "all"))
    assert set(found(other)) == {"d9-0"}


def test_after_any_changes_a_search_answers_as_one_over_what_is_stored(collections, database):
    plain, rng = ReferenceCollections(), np.random.default_rng(7)
    plain.create(ONE, "m", DIM)
    for step in range(40):
        chunks = document(f"d{rng.integers(12)}", *(f"all w{rng.integers(5)}" for _ in range(rng.integers(1, 7))))
        kept = chunks if step % 5 else []
        for each in (collections, plain):
            each.replace(ONE, chunks[0].work.doc_id, [], {})
            if kept:
                store(each, ONE, kept)
        fresh = collections_in(database)
        for text in ("w1 w3", "all"):
            got, wanted = found(collections, text), found(plain, text)
            assert got == found(fresh, text)
            assert {each: match.chunk for each, match in got.items()} == {
                each: match.chunk for each, match in wanted.items()
            }
            for each, match in wanted.items():
                assert got[each].bm25 == pytest.approx(match.bm25, abs=1e-5)


def test_the_memory_of_deleted_chunks_is_given_back(collections, database):
    loaded = LoadedCollections(1.2, 0.75)

    def rows():
        with database.reading() as connection:
            return len(loaded.current(connection, head(connection, ONE)).keys)

    store(collections, ONE, document("d1", *["all"] * FEW_DEAD), document("d2", "all two", "all"))
    assert rows() == FEW_DEAD + 2
    collections.replace(ONE, "d1", [], {})
    assert rows() == FEW_DEAD + 2
    collections.replace(ONE, "d2", document("d2", "all two"), {})
    assert rows() == 1
    assert set(found(collections, "two")) == {"d2-0"}


def test_only_some_collections_stay_in_memory(collections, database):
    loaded = LoadedCollections(1.2, 0.75)
    for n in range(LOADED + 3):
        collections.create(f"proj-{n}", "m", DIM)
        store(collections, f"proj-{n}", document("d1", f"all {n}"))
        with database.reading() as connection:
            assert len(loaded.current(connection, head(connection, f"proj-{n}")).keys) == 1
    assert len(loaded) == LOADED
    assert all(set(found(collections, collection=f"proj-{n}")) == {"d1-0"} for n in range(LOADED + 3))


def test_an_older_look_at_a_collection_is_not_given_a_newer_one(collections, database):
    loaded = LoadedCollections(1.2, 0.75)
    store(collections, ONE, document("d1", "all"))
    with database.reading() as before:
        old = head(before, ONE)
        store(collections, ONE, document("d2", "all"))
        with database.reading() as after:
            assert len(loaded.current(after, head(after, ONE)).keys) == 2
        assert loaded.current(before, old).change > old.change  # the search then looks again


def test_a_killed_writer_leaves_each_document_old_or_new_and_nothing_acknowledged_is_lost(collections, tmp_path):
    command = [sys.executable, "-m", "tests.adapters.embedded.chunk_writer", str(tmp_path), ONE]
    for _ in range(3):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            lines = [process.stdout.readline() for _ in range(5)]
            process.kill()
            lines += process.stdout.readlines()
        last = int(lines[-1]) if lines[-1].endswith("\n") else int(lines[-2])
        written = Counter(match.chunk.text for match in found(collections).values())
        assert set(written.values()) == {SIZE}
        assert len(written) == 3
        assert {f"all v{n}" for n in range(last - 1, last + 1)} <= written.keys()
        assert check(Database(tmp_path)).problems == ()


def test_threads_that_write_rebuild_and_drop_at_once_leave_a_sound_collection(collections, tmp_path):
    """What each of them may meet is that the collection is gone, or another's, and nothing else."""
    failures, start = [], threading.Barrier(5)

    def in_a_thread(step):
        mine = collections_in(Database(tmp_path))
        start.wait()
        for n in range(25):
            try:
                step(mine, n)
            except (NotFound, Conflict, ModelMismatch):
                continue
            except BaseException as error:  # noqa: BLE001  whatever it is, the test reports it
                failures.append(error)

    def ones(texts):
        return np.ones((len(texts), DIM), np.float32)

    steps = [
        lambda mine, n: store(mine, ONE, document(f"d{n % 4}", *["all"] * (n % 5 + 1))),
        lambda mine, _: found(mine),
        lambda mine, n: mine.rebuild(ONE, f"m{n}", DIM, ones),
        lambda mine, n: (mine.drop(ONE) if n % 6 == 5 else None, mine.create(ONE, f"m{n}", DIM)),
        lambda mine, _: (mine.count(ONE), mine.sample(ONE, 9), mine.document(ONE, "d1"), mine.hashes(ONE, "d1")),
    ]
    threads = [threading.Thread(target=in_a_thread, args=(step,)) for step in steps]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []
    assert check(Database(tmp_path)).problems == ()
    assert len(found(collections_in(Database(tmp_path)))) == collections.count(ONE)


def test_a_rebuild_that_another_one_overtook_is_a_conflict(collections):
    store(collections, ONE, document("d1", "all"))

    def overtaken(texts):
        collections.rebuild(ONE, "other", DIM, lambda texts: np.ones((len(texts), DIM), np.float32))
        return np.ones((len(texts), DIM), np.float32)

    with pytest.raises(Conflict, match=f"{ONE} was deleted or rebuilt"):
        collections.rebuild(ONE, "n", DIM, overtaken)
    assert collections.model(ONE) == ("other", DIM)


def test_two_rebuilds_for_the_same_model_share_their_work(collections):
    store(collections, ONE, document("d1", "all"))
    embedded = []

    def embed(texts):
        embedded.extend(texts)
        if len(embedded) == 1:
            collections.rebuild(ONE, "n", DIM, embed)
        return np.ones((len(texts), DIM), np.float32)

    collections.rebuild(ONE, "n", DIM, embed)
    assert collections.model(ONE) == ("n", DIM)
    assert embedded == ["all", "all"]


def test_a_rebuild_of_a_collection_that_is_dropped_meanwhile_is_a_conflict_and_leaves_nothing(collections, tmp_path):
    store(collections, ONE, document("d1", "all"))

    def drops(texts):
        collections.drop(ONE)
        return np.ones((len(texts), DIM), np.float32)

    with pytest.raises(Conflict):
        collections.rebuild(ONE, "n", DIM, drops)
    assert collections.model(ONE) is None
    assert check(Database(tmp_path)).problems == ()


def test_a_stopped_rebuild_is_continued_where_it_stopped(collections):
    store(collections, ONE, document("d1", *(f"all w{n}" for n in range(300))))
    embedded = []

    def stops(texts):
        if embedded:
            raise KeyboardInterrupt
        embedded.extend(texts)
        return np.ones((len(texts), DIM), np.float32)

    with pytest.raises(KeyboardInterrupt):
        collections.rebuild(ONE, "n", DIM, stops)
    rest = []
    collections.rebuild(ONE, "n", DIM, lambda texts: [rest.extend(texts), np.ones((len(texts), DIM), np.float32)][1])
    assert (len(embedded), len(rest), set(embedded) & set(rest)) == (256, 44, set())
