"""What goes wrong with a file, or becomes of it meanwhile, as sentences that help; and what is left of the file."""

import errno
import json
import os
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest

from bio_mcp.adapters.embedded.database import FILE, Connection, Database, refused
from bio_mcp.adapters.embedded.documents import SqliteDocuments
from bio_mcp.adapters.embedded.integrity import check
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedded.projects import SqliteAnswers, SqliteScreenings
from bio_mcp.adapters.embedded.schema import EARLIER, MIGRATIONS
from bio_mcp.adapters.embedded.sync_state import SqliteContinuations, SqliteJobs, SqliteLeases
from bio_mcp.errors import BIO_MCP, DiskFull, IndexUnavailable, StoreFailed, code_for
from bio_mcp.literature.records import Article, CitedSpan, Document
from bio_mcp.ports.state import Job
from bio_mcp.ports.stores import ReviewPlan, ReviewRecord, ScreeningLabel, StoredAnswer
from bio_mcp.retrieval.passages import PassageQuery
from tests.adapters.clocks import Clock
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
    with pytest.raises(DiskFull, match="free some space"):
        store.put(big)
    with pytest.raises(DiskFull, match="free some space") as full:
        passages.upsert_chunks(
            [entry(str(n), "y " * 5_000, vectors=[[1.0] + [0.0] * 7] * 400) for n in range(400, 500)]
        )
    assert (code_for(full.value, BIO_MCP), full.value.retryable) == ("STORE", True)
    assert store.count() == 3
    assert passages.count()[0] == 299
    assert len(passages.hybrid_search(PassageQuery((("y", 1.0),), None))) == 0
    store.put(documents(4))
    assert check(database) == ()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_what_the_system_refuses_for_want_of_space_is_a_full_disk(number):
    assert type(refused(OSError(number, os.strerror(number)))) is DiskFull
    other = refused(PermissionError(errno.EACCES, "no"), "may not", retryable=True)
    assert (type(other), str(other), other.retryable) == (StoreFailed, "may not", True)


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

    def work(thread):
        for pmid in [str(1_000 + 10 * thread + n) for n in range(8)]:
            passages.upsert_chunks([entry(pmid, f"x w{pmid}")])
            store.put(documents(pmid))
            found = passages.hybrid_search(PassageQuery(((f"w{pmid}", 1.0),), None))
            assert [each.pmid for each in found] == [pmid]

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert passages.count()[0] == 299 + 32


QUERY = PassageQuery((("x", 1.0),), None)


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
            columns = ", ".join(each[1] for each in connection.execute(f"PRAGMA table_info({table})"))
            row = today.execute(f"SELECT {columns} FROM {table} WHERE pmid = 1").fetchone()  # noqa: S608  no input
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


def test_jobs_of_before_they_were_numbered_come_first_by_their_times(tmp_path):
    old = Database(tmp_path, migrations=MIGRATIONS[:1])
    with old.writing() as connection:
        for day in (2, 3, 1):
            at = datetime(2040, 1, day, tzinfo=UTC).isoformat(timespec="microseconds")
            row = (f"j{day}", "sync", "waiting", "k", at, at, json.dumps({"query_key": "k"}), "{}", "{}")
            connection.execute("INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    old.close()
    jobs = SqliteJobs(Database(tmp_path))
    assert [each.job_id for each in jobs.newest("sync", 9)] == ["j3", "j2", "j1"]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    jobs.put(Job("new", "sync", "running", now, now, {"query_key": "k"}))
    jobs.put(jobs.get("j2"))
    assert jobs.latest("sync", "k").job_id == "new"


def test_reviews_of_before_they_had_names_and_screeners_are_listed_with_the_labels_of_each(tmp_path):
    old = Database(tmp_path, migrations=MIGRATIONS[:4])
    at = datetime(2025, 3, 1, tzinfo=UTC)
    labels = [
        ScreeningLabel("1", stage, "include", at, None, who)
        for stage, who in (("abstract", "ann"), ("full_text", None))
    ]
    with old.writing() as connection:
        connection.execute(
            "INSERT INTO review_records VALUES ('query:k', '1', ?)", (json.dumps({"record_id": "1", "title": "T"}),)
        )
        search = {
            "search_id": "s",
            "at": at.isoformat(),
            "database": "PubMed",
            "term": "t",
            "found": 1,
            "record_ids": ["1"],
        }
        connection.execute("INSERT INTO review_searches VALUES ('query:k', 's', ?)", (json.dumps(search),))
        for each in labels:
            body = {**asdict(each), "at": at.isoformat()}
            body.pop("resolves")
            connection.execute(
                "INSERT INTO review_labels VALUES ('query:k', '1', ?, ?)", (each.stage, json.dumps(body))
            )
    old.close()
    screenings = SqliteScreenings(Database(tmp_path))
    assert screenings.reviews() == {"query:k": ReviewPlan(at)}
    assert screenings.labels("query:k") == labels
    assert screenings.records("query:k") == [ReviewRecord("1", "T")]
    screenings.put("query:k", [replace(labels[0], decision="exclude")])
    assert [each.decision for each in screenings.labels("query:k")] == ["include", "exclude"]


def test_answers_and_queued_calls_of_before_they_were_numbered_and_measured_go_on(tmp_path):
    old, clock = Database(tmp_path, migrations=MIGRATIONS[:3]), Clock(1_000_000.0)
    with old.writing() as connection:
        for year in (2040, 2025):
            asked = datetime(year, 1, 1, tzinfo=UTC).isoformat(timespec="microseconds")
            connection.execute("INSERT INTO answers VALUES (?, 'Why?', 'So.', '[]', 0.5, ?)", (f"of {year}", asked))
            connection.execute("INSERT INTO answer_papers VALUES (9, ?, 0)", (f"of {year}",))
        due = clock.now + 14 * 365 * 86_400
        connection.execute(
            "INSERT INTO continuations (event, state, due, attempts) VALUES ('{}', 'waiting', ?, 0)", (due,)
        )
        connection.execute("INSERT INTO leases VALUES ('n', 'me', ?, '')", (due,))
    old.close()
    database = Database(tmp_path)
    answers, queue, leases = (
        SqliteAnswers(database),
        SqliteContinuations(database, clock),
        SqliteLeases(database, clock),
    )
    spans = (CitedSpan("9", 1, "title", 0, 1, "t"),)
    answers.put(StoredAnswer("new", "Why?", "So.", spans, 0.5, datetime(2026, 1, 1, tzinfo=UTC)))
    answers.flag("9")
    assert [each.answer_id for each in answers.flagged(9)] == ["new", "of 2040", "of 2025"]
    assert (queue.receive(60), leases.acquire("n", "you", 60)) == (None, None)
    clock.now += 86_400
    assert queue.receive(60)[1] == {}
    assert leases.acquire("n", "you", 60)


def test_a_corpus_of_before_the_first_release_is_refused_and_left_as_it_is(tmp_path):
    with Database(tmp_path).writing() as connection:
        connection.execute(f"PRAGMA user_version = {EARLIER}")
    with pytest.raises(StoreFailed, match="before its first release") as failure:
        SqliteJobs(Database(tmp_path)).newest("sync", 1)
    assert not failure.value.retryable


@pytest.mark.parametrize("at", range(5))
def test_a_new_corpus_file_that_another_process_makes_while_it_is_opened_is_no_foreign_one(tmp_path, at):
    ran = []

    class Meeting(Connection):
        """Another process opens the corpus before statement number `at`."""

        def execute(self, *statement):
            ran.append(statement)
            if len(ran) == at + 1:
                with Database(tmp_path).writing() as other:
                    other.execute("INSERT INTO settings VALUES ('change', 1)")
            return super().execute(*statement)

    class Late(Database):
        connections = Meeting

    with Late(tmp_path).reading() as connection:
        assert connection.execute("SELECT value FROM settings").fetchall() == [(1,)]
    assert len(ran) > at + 1
