"""The indexes of projects in a corpus file that several programs use, that is put back, read-only, or gone."""

import numpy as np
import pytest

from bio_mcp.adapters.embedded.chunk_rows import ChunkRows
from bio_mcp.adapters.embedded.collections import LOADED, SqliteCollections
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.integrity import check
from bio_mcp.errors import Conflict, ModelMismatch
from bio_mcp.retrieval.project_chunks import ChunkQuery
from tests.adapters.chunks import document, store
from tests.adapters.entries import DIM, unit

ONE = "proj-one"


@pytest.fixture
def database(tmp_path):
    return Database(tmp_path)


@pytest.fixture
def collections(database):
    made = SqliteCollections(database)
    made.create(ONE, "m", DIM)
    return made


def found(collections, text="all", collection=ONE, depth=1_000):
    query = ChunkQuery(tuple((word, 1.0) for word in text.split()), unit(1), depth=depth)
    return {match.chunk.chunk_id: match for match in collections.search(collection, query) if match.bm25}


def ones(texts):
    return np.ones((len(texts), DIM), np.float32)


def test_what_another_process_writes_is_found_by_the_next_search(collections, tmp_path):
    other = SqliteCollections(Database(tmp_path))
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


def test_only_some_collections_stay_in_memory(collections, database):
    for n in range(LOADED + 3):
        collections.create(f"proj-{n}", "m", DIM)
        store(collections, f"proj-{n}", document("d1", f"all {n}"))
        with database.reading() as connection:
            assert len(collections._current(ChunkRows.of(connection, f"proj-{n}")).keys) == 1
    assert len(collections._loaded) == LOADED
    assert all(set(found(collections, collection=f"proj-{n}")) == {"d1-0"} for n in range(LOADED + 3))


def test_an_older_look_at_a_collection_is_not_given_a_newer_one(collections, database):
    store(collections, ONE, document("d1", "all"))
    with database.reading() as before:
        old = ChunkRows.of(before, ONE)
        store(collections, ONE, document("d2", "all"))
        with database.reading() as after:
            assert len(collections._current(ChunkRows.of(after, ONE)).keys) == 2
        assert collections._current(old).change > old.change  # the search then looks again


def test_a_rebuild_that_another_one_overtook_is_a_conflict(collections):
    store(collections, ONE, document("d1", "all"))

    def overtaken(texts):
        collections.rebuild(ONE, "other", DIM, ones)
        return ones(texts)

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
        return ones(texts)

    collections.rebuild(ONE, "n", DIM, embed)
    assert collections.model(ONE) == ("n", DIM)
    assert embedded == ["all", "all"]


def test_a_rebuild_of_a_collection_that_is_dropped_meanwhile_is_a_conflict_and_leaves_nothing(collections, tmp_path):
    store(collections, ONE, document("d1", "all"))

    def drops(texts):
        collections.drop(ONE)
        return ones(texts)

    with pytest.raises(Conflict):
        collections.rebuild(ONE, "n", DIM, drops)
    assert collections.model(ONE) is None
    assert check(Database(tmp_path)) == ()


def test_a_stopped_rebuild_is_continued_where_it_stopped(collections):
    store(collections, ONE, document("d1", *(f"all w{n}" for n in range(300))))
    embedded = []

    def stops(texts):
        if embedded:
            raise KeyboardInterrupt
        embedded.extend(texts)
        return ones(texts)

    with pytest.raises(KeyboardInterrupt):
        collections.rebuild(ONE, "n", DIM, stops)
    rest = []
    collections.rebuild(ONE, "n", DIM, lambda texts: [rest.extend(texts), ones(texts)][1])
    assert (len(embedded), len(rest), set(embedded) & set(rest)) == (256, 44, set())
