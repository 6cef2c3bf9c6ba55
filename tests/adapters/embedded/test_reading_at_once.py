"""What is read at once is read in one transaction, as of one moment."""

import threading

import pytest

from bio_mcp.adapters.embedded.database import Connection, Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.call import call
from bio_mcp.errors import StoreFailed
from bio_mcp.scope import reading_at_once
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tools.search import rag_search
from tests.adapters.entries import DIM, entry
from tests.support.corpus import Corpus
from tests.support.sample_corpus import articles


class Counted(Connection):
    begun = 0

    def execute(self, sql, *values):
        type(self).begun += sql.startswith("BEGIN")
        return super().execute(sql, *values)


@pytest.fixture
def passages(tmp_path):
    made = SqlitePassages(Database(tmp_path))
    made.ensure_schema("m", DIM)
    return made


def test_a_search_takes_one_transaction(tmp_path):
    with Corpus(tmp_path) as corpus:
        apply_records(articles(), corpus)
        corpus.database.close()
        corpus.database.connections = Counted
        for _ in range(2):
            Counted.begun = 0
            assert call(rag_search, {"query": "aspirin", "group_by_doc": False}, corpus).body["results"]
        assert Counted.begun == 1


def test_what_others_write_meanwhile_is_seen_after_the_block_and_in_other_threads(passages, tmp_path):
    counts, elsewhere = [], threading.Thread(target=lambda: counts.append(passages.count()))
    with reading_at_once():
        assert passages.count() == (0, 0)
        with reading_at_once():
            SqlitePassages(Database(tmp_path)).upsert_chunks([entry("1", "x")])
        elsewhere.start()
        elsewhere.join()
        assert passages.count() == (0, 0)
    assert passages.count() == counts[0] == (1, 1)


def test_a_failure_of_one_reading_is_explained_and_ends_its_own_block(passages):
    def read():
        with reading_at_once():
            passages.count()
            passages._database.rows("SELECT * FROM no_such_table")

    with pytest.raises(StoreFailed, match="damaged"):
        read()
    assert passages.count() == (0, 0)
