"""What goes wrong with a file, as sentences that help; and what is left of the file."""

import os
import sqlite3
import threading
from contextlib import closing

import pytest

from bio_mcp.adapters.embedded.database import FILE, Database
from bio_mcp.adapters.embedded.documents import SqliteDocuments
from bio_mcp.adapters.embedded.integrity import check
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedded.schema import MIGRATIONS
from bio_mcp.errors import IndexUnavailable, StoreFailed
from bio_mcp.literature.records import Article, Document
from bio_mcp.retrieval.passages import PassageQuery
from tests.adapters.entries import DIM, entry


def documents(*pmids, title="t"):
    return [Document(Article(str(pmid), title=title), "hash") for pmid in pmids]


@pytest.fixture
def filled(tmp_path):
    """A directory with a corpus of three documents, closed."""
    database = Database(tmp_path)
    SqliteDocuments(database).put(documents(1, 2, 3))
    passages = SqlitePassages(database)
    passages.ensure_schema("m", DIM)
    passages.upsert_chunks([entry(str(n), "x") for n in range(1, 300)])
    database.close()
    return tmp_path


def test_every_commit_is_synced_to_the_disk_on_every_connection(filled):
    database = Database(filled)
    with database.reading() as one, database.writing() as other:
        for connection in (one, other):
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
            assert connection.execute("PRAGMA fullfsync").fetchone() == (1,)


def test_a_locked_corpus_says_so_and_can_be_tried_again(filled):
    database = Database(filled, busy_timeout_s=0.01)
    store, passages = SqliteDocuments(database), SqlitePassages(database)
    with Database(filled).writing():
        with pytest.raises(StoreFailed, match="try again") as failure:
            store.put(documents(4))
        with pytest.raises(IndexUnavailable, match="try again"):
            passages.delete(["1"])
        assert store.count() == 3  # readers do not wait for writers
        assert len(passages.hybrid_search(PassageQuery((("x", 1.0),), None, depth=500))) == 299
    assert failure.value.retryable
    store.put(documents(4))
    assert store.count() == 4


def of_bookmarks(path):
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")


@pytest.mark.parametrize(
    ("place", "make", "says"),
    [
        (FILE, lambda path: path.write_bytes(b"no database at all " * 1_000), "bio-mcp doctor"),
        (FILE, of_bookmarks, "another program"),
        (FILE, lambda path: path.mkdir(), "cannot be opened"),
        (".", lambda path: path.write_text(""), "data directory"),
    ],
)
def test_what_is_no_corpus_is_refused_with_advice_and_left_as_it_is(tmp_path, place, make, says):
    path = tmp_path / "home" / place
    path.parent.mkdir(exist_ok=True)
    make(path)
    before = path.is_file() and path.read_bytes()
    with pytest.raises(StoreFailed, match=says) as failure:
        SqliteDocuments(Database(tmp_path / "home")).count()
    assert not failure.value.retryable
    assert str(tmp_path) not in str(failure.value)
    assert (path.is_file() and path.read_bytes()) == before


def test_a_corpus_with_torn_pages_is_reported_and_left_as_it_is(filled):
    path = filled / FILE
    whole = path.read_bytes()
    torn = whole[: 16_384 * 2] + b"\xff" * (len(whole) - 16_384 * 2)
    path.write_bytes(torn)
    passages = SqlitePassages(Database(filled))
    with pytest.raises(IndexUnavailable, match="damaged") as failure:
        passages.hybrid_search(PassageQuery((("x", 1.0),), None))
    assert not failure.value.retryable
    with pytest.raises(StoreFailed, match="damaged"):
        SqliteDocuments(Database(filled)).get_many(["1", "2"])
    assert path.read_bytes() == torn


def test_a_full_disk_undoes_the_batch_and_keeps_what_was_there(filled):
    pages = (filled / FILE).stat().st_size // 16_384
    database = Database(filled)
    with database.reading() as connection:
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    store, passages = SqliteDocuments(database), SqlitePassages(database)
    big = [Document(Article(str(n), title=os.urandom(4_000).hex()), "hash") for n in range(10, 60)]
    with pytest.raises(StoreFailed, match="free some space"):
        store.put(big)
    with pytest.raises(IndexUnavailable, match="free some space"):
        passages.upsert_chunks(
            [entry(str(n), "y " * 5_000, vectors=[[1.0] + [0.0] * 7] * 400) for n in range(400, 500)]
        )
    assert store.count() == 3
    assert passages.count()[0] == 299
    assert len(passages.hybrid_search(PassageQuery((("y", 1.0),), None))) == 0
    store.put(documents(4))
    assert check(database) == ()


def test_an_older_corpus_is_brought_up_to_date_and_an_older_program_refuses_it(filled):
    newer = (
        *MIGRATIONS,
        "CREATE TABLE notes (pmid INTEGER PRIMARY KEY, note TEXT);\nINSERT INTO notes SELECT pmid, 'n' FROM heads",
    )
    database = Database(filled, migrations=newer)
    with database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (3,)
    assert SqliteDocuments(database).count() == 3
    before = (filled / FILE).read_bytes()
    with pytest.raises(StoreFailed, match="newer bio-mcp") as failure:
        SqliteDocuments(Database(filled)).count()
    assert not failure.value.retryable
    assert (filled / FILE).read_bytes() == before


def test_a_step_that_fails_leaves_the_old_schema(filled):
    broken = (*MIGRATIONS, "CREATE TABLE notes (note TEXT);\nINSERT INTO nowhere VALUES (1)")
    with pytest.raises(StoreFailed, match="damaged"):  # what a step cannot find has been lost
        SqliteDocuments(Database(filled, migrations=broken)).count()
    assert SqliteDocuments(Database(filled)).count() == 3


def test_threads_share_one_database(filled):
    database = Database(filled)
    passages, store = SqlitePassages(database), SqliteDocuments(database)
    failures = []

    def work(thread):
        try:
            for n in range(8):
                pmid = str(1_000 + 10 * thread + n)
                passages.upsert_chunks([entry(pmid, f"x w{pmid}")])
                store.put(documents(pmid))
                found = passages.hybrid_search(PassageQuery(((f"w{pmid}", 1.0),), None))
                assert [each.pmid for each in found] == [pmid]
        except (AssertionError, StoreFailed, IndexUnavailable) as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert passages.count()[0] == 299 + 32
