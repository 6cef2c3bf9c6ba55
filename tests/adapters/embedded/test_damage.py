"""A damaged corpus file: the check finds what no search could be trusted with, and a search says so itself."""

import random
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice

import numpy as np
import pytest

from bio_mcp.adapters.embedded.collections import SqliteCollections
from bio_mcp.adapters.embedded.database import FILE, PAGE_BYTES, Database
from bio_mcp.adapters.embedded.integrity import check
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.errors import Conflict, Failure, IndexUnavailable
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.state import Job
from bio_mcp.retrieval.passages import Filters, PassageQuery
from bio_mcp.retrieval.project_chunks import ChunkQuery, Work
from bio_mcp.retrieval.pubmed_syntax import parsed
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.reindexing import reindex
from tests.adapters.chunks import document, store
from tests.adapters.entries import DIM
from tests.doors.command_line import sample
from tests.support.corpus import Corpus

PMID = "27602157"
QUERY = PassageQuery((("cell", 1.0),), None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A directory with a corpus of some papers, jobs and checkpoints, closed."""
    home = tmp_path_factory.mktemp("whole")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with Corpus(home) as corpus:
        apply_records(islice(sample(), 30), corpus)
        for n in range(60):
            query = {"query_key": f"key {n}", "term": "x" * 200}
            corpus.jobs.put(Job(f"job {n}", "sync", "done", now, now, query, {"at": n}, {"done": n}))
            corpus.checkpoints.set(f"key {n}", "2020-01-01", {"edat": "2020-01-01"})
        for project in ("proj-a", "proj-b"):
            corpus.collections.create(project, "m", DIM)
            store(corpus.collections, project, *(document(f"d{n}", f"cell {n}", "text " * 90) for n in range(8)))
            for n in range(8):
                known = ProjectDocument(Work(f"d{n}"), frozenset({f"sha256:{n}"}), origin={"x": "y" * 200})
                corpus.project_documents.put(project, known)
            corpus.project_documents.put_cursor(project, "users/1", {"version": 7})
    return home


@pytest.fixture
def corpus(whole, tmp_path):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    with Corpus(tmp_path) as opened:
        yield opened


def problems(path):
    database = Database(path.parent)
    try:
        return check(database)
    except Failure as failure:
        return (str(failure),)
    finally:
        database.close()


def rows(path):
    """Every row of every table, texts as bytes; None where they cannot be read."""
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'words'"  # which is in tables of its own
        tables = connection.execute(sql).fetchall()
        try:
            return {t: sorted(map(repr, connection.execute(f"SELECT * FROM {t.decode()}"))) for (t,) in tables}  # noqa: S608
        except sqlite3.Error:
            return None


def change(corpus, sql, *values):
    with closing(sqlite3.connect(corpus.database.directory / FILE)) as connection, connection:
        connection.execute(sql, values)


def test_random_bytes_are_found_wherever_they_matter(whole, tmp_path):
    """Half a kilobyte of them, until thirty places have been found; where none is, every row reads as before."""
    content, good = (whole / FILE).read_bytes(), rows(whole / FILE)
    draw, found = random.Random(20), 0  # noqa: S311  the same places each time
    while found < 30:
        at = draw.randrange(len(content) - 512)
        (tmp_path / FILE).write_bytes(content[:at] + draw.randbytes(512) + content[at + 512 :])
        if problems(tmp_path / FILE):
            found += 1
        else:
            assert rows(tmp_path / FILE) == good, at


def test_every_page_that_is_wiped_is_found(whole, tmp_path):
    content = (whole / FILE).read_bytes()
    for at in range(0, len(content), PAGE_BYTES):
        (tmp_path / FILE).write_bytes(content[:at] + bytes(PAGE_BYTES) + content[at + PAGE_BYTES :])
        assert problems(tmp_path / FILE), at // PAGE_BYTES


ROWS = {
    "a vector": ("UPDATE vectors SET vectors = zeroblob(length(vectors)) WHERE pmid = ?", True),
    "a word": ("UPDATE entries SET term_ids = zeroblob(length(term_ids)) WHERE pmid = ?", True),
    "a year": ("UPDATE entries SET year = 1066 WHERE pmid = ?", True),
    "a version": ("UPDATE entries SET version = 99 WHERE pmid = ?", True),
    "a row of vectors": ("DELETE FROM vectors WHERE pmid = ?", True),
    "a text": ("UPDATE chunks SET chunks = replace(chunks, 'e', 'a') WHERE pmid = ?", False),
    "a text that is none": ("UPDATE chunks SET chunks = CAST(x'fffe' AS TEXT) WHERE pmid = ?", False),
    "a name that is none": ("UPDATE entries SET chunk_ids = CAST(x'fffe' AS TEXT) WHERE pmid = ?", True),
}


@pytest.mark.parametrize(("sql", "searched"), ROWS.values(), ids=ROWS)
def test_a_row_that_is_not_what_was_written_is_reported_by_its_paper_and_made_again(corpus, sql, searched):
    before = rows(corpus.database.directory / FILE)
    change(corpus, sql, int(PMID))
    assert any(PMID in each or "without vectors" in each for each in problems(corpus.database.directory / FILE))
    with pytest.raises(IndexUnavailable, match=f"PMID {PMID} are damaged.*bio-mcp admin reindex"):
        SqlitePassages(corpus.database).hybrid_search(QUERY) if searched else corpus.passages.chunks([PMID, "1"])
    reindex(corpus)
    assert problems(corpus.database.directory / FILE) == ()
    after = rows(corpus.database.directory / FILE)
    assert (after[b"vectors"], after[b"chunks"]) == (before[b"vectors"], before[b"chunks"])
    assert SqlitePassages(corpus.database).hybrid_search(QUERY)


FIELDS = {
    "texts of another": "UPDATE texts SET packed = (SELECT packed FROM texts ORDER BY pmid LIMIT 1) WHERE pmid = ?",
    "texts that are none": "UPDATE texts SET packed = x'fffe' WHERE pmid = ?",
    "texts that are text": "UPDATE texts SET packed = CAST(x'fffe' AS TEXT) WHERE pmid = ?",
    "no text": "DELETE FROM texts WHERE pmid = ?",
    "a day": "UPDATE fields SET day = 'x' WHERE pmid = ?",
    "participants": "UPDATE fields SET participants = 7000 WHERE pmid = ?",
    "no fields": "DELETE FROM fields WHERE pmid = ?",
}


@pytest.mark.parametrize("sql", FIELDS.values(), ids=FIELDS)
def test_what_a_paper_is_found_by_is_reported_where_it_is_damaged_and_made_again(corpus, sql):
    before, filters = rows(corpus.database.directory / FILE), Filters(tree=parsed("cell* OR bell* OR english[la]"))
    found = corpus.passages.matching(filters, 99)
    change(corpus, sql, int(PMID))
    reported = problems(corpus.database.directory / FILE)
    assert any(PMID in each or "1 index entries without searched fields" in each for each in reported)
    reindex(corpus)
    assert problems(corpus.database.directory / FILE) == ()
    after = rows(corpus.database.directory / FILE)
    assert (after[b"texts"], after[b"fields"]) == (before[b"texts"], before[b"fields"])
    assert corpus.passages.matching(filters, 99) == found
    change(corpus, sql, int(PMID))
    corpus.passages.delete([PMID])
    assert problems(corpus.database.directory / FILE) == ()


def test_an_index_of_words_that_is_damaged_or_of_other_texts_is_reported(corpus):
    for sql in (
        "UPDATE words_data SET block = zeroblob(length(block)) WHERE id = (SELECT max(id) FROM words_data)",
        "INSERT INTO words (rowid, title) VALUES (77, 'cell')",
    ):
        with Corpus(corpus.database.directory) as copy:
            before = (copy.database.directory / FILE).read_bytes()
        change(corpus, sql)
        assert "damaged index of words" in problems(corpus.database.directory / FILE)
        corpus.database.close()
        (corpus.database.directory / FILE).write_bytes(before)
        assert problems(corpus.database.directory / FILE) == ()


CHUNKS = {
    "a vector": "UPDATE collection_vectors SET vector = zeroblob(length(vector)) WHERE id = 7",
    "a short vector": "UPDATE collection_vectors SET vector = x'00' WHERE id = 7",
    "no vector": "DELETE FROM collection_vectors WHERE id = 7",
    "a word": "UPDATE collection_chunks SET term_ids = zeroblob(length(term_ids)) WHERE id = 7",
    "a facet": "UPDATE collection_chunks SET facets = replace(facets, 'd3', 'd4') WHERE id = 7",
    "a section that is none": "UPDATE collection_chunks SET section = CAST(x'fffe' AS TEXT) WHERE id = 7",
    "a text": "UPDATE collection_texts SET chunk = replace(chunk, 'cell', 'bell') WHERE id = 7",
    "a text that is none": "UPDATE collection_texts SET chunk = CAST(x'fffe' AS TEXT) WHERE id = 7",
    "no text": "DELETE FROM collection_texts WHERE id = 7",
}


@pytest.mark.parametrize("sql", CHUNKS.values(), ids=CHUNKS)
def test_a_damaged_chunk_is_reported_by_its_document_in_its_project_alone_and_made_again(corpus, sql):
    change(corpus, sql)
    [problem] = problems(corpus.database.directory / FILE)
    assert "damaged chunks of the documents d3: ingest them again" in problem
    assert corpus.checks()[1].remedy == "Ingest these documents again, with force_rebuild."
    collections, query = SqliteCollections(corpus.database), ChunkQuery((("cell", 1.0),), np.ones(DIM, np.float32))
    with pytest.raises(IndexUnavailable, match="document d3 are damaged: ingest it again"):
        collections.search("proj-a", query)
    assert len(collections.search("proj-b", query)) == 16
    assert set(collections.hashes("proj-a", "d3")) == {"d3-1"}
    chunks = document("d3", "cell 3", "text " * 90)
    with pytest.raises(Conflict):
        collections.replace("proj-a", "d3", chunks, {})
    store(collections, "proj-a", chunks)
    assert problems(corpus.database.directory / FILE) == ()
    assert len(collections.search("proj-a", query)) == 16


def test_a_chunk_that_is_damaged_stops_a_rebuild_and_the_old_vectors_stand(corpus):
    change(corpus, CHUNKS["a text"])
    with pytest.raises(IndexUnavailable, match="document d3"):
        corpus.collections.rebuild("proj-a", "other", DIM, lambda texts: np.ones((len(texts), DIM), np.float32))
    assert corpus.collections.model("proj-a") == ("m", DIM)


@pytest.mark.parametrize(
    ("sql", "reported"),
    [
        ("DELETE FROM collections WHERE name = 'proj-a'", "16 chunks without a collection"),
        ("DELETE FROM collection_builds", "2 collections without a build"),
        ("DELETE FROM collection_chunks WHERE id = 7", "1 texts without a chunk"),
        ("DELETE FROM collection_chunks WHERE id = 7", "1 vectors without a chunk"),
        ("UPDATE project_documents SET document = '{' WHERE doc_id = 'd3'", "2 documents of projects that cannot"),
        ("DELETE FROM project_documents WHERE doc_id = 'd3'", "2 identifiers without a document"),
        ("UPDATE project_cursors SET cursor = 'x'", "2 libraries of projects that cannot be read"),
        ("INSERT INTO paper_identifiers VALUES ('doi:10.1/x', 99)", "1 identifiers without an article"),
        ("UPDATE articles SET article = x'0102' WHERE pmid = 27602157", "damaged papers, PMID 27602157"),
        ("UPDATE heads SET date_revised = '1999-01-01' WHERE pmid = 27602157", "damaged papers, PMID 27602157"),
        ("UPDATE jobs SET cursor = '{' WHERE job_id = 'job 7'", "1 jobs that cannot be read"),
        ("UPDATE checkpoints SET windows = 'x' WHERE query_key = 'key 7'", "1 checkpoints that cannot be read"),
        ("UPDATE jobs SET state = CAST(x'ff' AS TEXT) WHERE job_id = 'job 7'", "jobs: Could not decode"),
        ("DELETE FROM checksums WHERE pmid = 27602157", "1 index entries without checksums"),
        ("DELETE FROM fields WHERE pmid = 27602157", "1 searched texts without an index entry"),
        ("DROP TABLE jobs", "the table jobs is missing"),
        ("DROP INDEX entries_by_change", "the index entries_by_change is missing"),
        ("UPDATE settings SET value = 1 WHERE name = 'change'", "index entries of an unknown batch"),
    ],
)
def test_the_check_finds_what_is_lost_or_contradicts_itself(corpus, sql, reported):
    change(corpus, sql)
    assert any(reported in each for each in problems(corpus.database.directory / FILE))


def test_an_index_without_its_settings_is_damaged_and_not_empty(corpus):
    change(corpus, "DELETE FROM settings")
    assert "3 settings of the index that are missing" in problems(corpus.database.directory / FILE)
    with pytest.raises(IndexUnavailable, match="damaged"):
        corpus.passages.hybrid_search(QUERY)
    with pytest.raises(IndexUnavailable, match="damaged"):
        corpus.passages.ensure_schema("m", 8)
    change(corpus, "DROP TABLE entries")
    with pytest.raises(IndexUnavailable, match="damaged"):
        corpus.passages.hybrid_search(QUERY)
