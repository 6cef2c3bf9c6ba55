"""Another file in the corpus file's place, under a program that uses it."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from bio_mcp.adapters.embedded.database import FILE, Database
from bio_mcp.adapters.embedded.documents import SqliteDocuments
from bio_mcp.adapters.embedded.integrity import check
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedded.schema import MIGRATIONS
from bio_mcp.errors import StoreFailed
from bio_mcp.literature.records import Article, Document
from bio_mcp.retrieval.passages import PassageQuery
from tests.adapters.entries import DIM, entry

QUERY = PassageQuery((("x", 1.0),), None)


def documents(*pmids):
    return [Document(Article(str(pmid), title="t"), "hash") for pmid in pmids]


@pytest.fixture
def earlier(tmp_path):
    """A copy of the corpus, from before PMID 2 was written to it."""
    home = tmp_path / "home"
    database = Database(home)
    passages = SqlitePassages(database)
    passages.ensure_schema("m", DIM)
    passages.upsert_chunks([entry("1", "x")])
    SqliteDocuments(database).put(documents(1))
    database.close()
    return shutil.copy(home / FILE, tmp_path / "earlier")


@pytest.fixture
def database(tmp_path, earlier):
    """The corpus, in use, with a write-ahead log that holds PMID 2."""
    database = Database(tmp_path / "home")
    SqliteDocuments(database).put(documents(2))
    SqlitePassages(database).upsert_chunks([entry("2", "x")])
    return database


def stored(database):
    """What the next program finds."""
    with closing(sqlite3.connect(database.directory / FILE)) as connection:
        return [pmid for (pmid,) in connection.execute("SELECT pmid FROM heads ORDER BY pmid")]


def test_a_corpus_that_was_put_back_is_read_written_and_searched_from_then_on(database, earlier):
    store, passages = SqliteDocuments(database), SqlitePassages(database)
    assert {each.pmid for each in passages.hybrid_search(QUERY)} == {"1", "2"}
    shutil.move(earlier, database.directory / FILE)
    assert {each.pmid for each in passages.hybrid_search(QUERY)} == {"1"}
    passages.upsert_chunks([entry("3", "x")])  # another batch of the number that PMID 2 had
    store.put(documents(3))
    assert {each.pmid for each in passages.hybrid_search(QUERY)} == {"1", "3"}
    database.close()
    assert stored(database) == [1, 3]
    assert check(database) == ()


def test_a_write_into_a_file_that_has_been_replaced_is_not_acknowledged(database, earlier):
    def write_and_put_back():
        with database.writing() as connection:
            connection.execute("DELETE FROM heads WHERE pmid = 1")
            shutil.move(earlier, database.directory / FILE)

    with pytest.raises(StoreFailed, match="repeat the call") as failure:
        write_and_put_back()
    assert failure.value.retryable
    SqliteDocuments(database).put(documents(4))
    database.close()
    assert stored(database) == [1, 4]


def test_a_corpus_of_an_earlier_schema_is_brought_up_to_date_when_it_is_put_back(database, tmp_path):
    assert SqliteDocuments(database).count() == 2
    older = Database(tmp_path / "older", migrations=MIGRATIONS[:-1])
    with database.reading() as today, older.writing() as connection:
        for table in ("heads", "articles"):
            row = today.execute(f"SELECT * FROM {table} WHERE pmid = 1").fetchone()  # noqa: S608  the names stand above
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
    older.close()
    shutil.move(tmp_path / "older" / FILE, database.directory / FILE)
    assert SqliteDocuments(database).count() == 1
    assert check(database) == ()


def test_a_corpus_that_was_moved_away_is_missed_and_not_recreated(database, tmp_path):
    store = SqliteDocuments(database)
    (database.directory / FILE).rename(tmp_path / "away")
    with pytest.raises(StoreFailed, match="no longer where it was") as failure:
        store.put(documents(5))
    assert not failure.value.retryable
    with pytest.raises(StoreFailed):
        store.count()
    assert not (database.directory / FILE).exists()
    (tmp_path / "away").rename(database.directory / FILE)
    assert store.count() == 2
