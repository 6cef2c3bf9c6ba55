"""Several real processes on one corpus file, and processes that die."""

import random
import signal
import subprocess
import sys

import pytest

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.documents import SqliteDocuments
from bio_mcp.adapters.embedded.integrity import check
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.retrieval.passages import PassageQuery
from tests.adapters.embedded.writer import SIZE, pmids


class Writer:
    """A writer process, killed without a warning at the end of its block; then `acknowledged` is complete."""

    def __init__(self, directory, first):
        command = [sys.executable, "-m", "tests.adapters.embedded.writer", str(directory), str(first)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.acknowledged = []

    def next_batch(self):
        self.acknowledged.append(int(self._process.stdout.readline()))
        return self.acknowledged[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.send_signal(signal.SIGKILL)
        self.acknowledged += [int(line) for line in self._process.stdout if line.endswith("\n")]
        self._process.wait()
        self._process.stdout.close()


def indexed(passages, word="all"):
    return {each.pmid for each in passages.hybrid_search(PassageQuery(((word, 1.0),), None, depth=1_000_000))}


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_writer_loses_nothing_that_it_acknowledged_and_leaves_no_half_batch(tmp_path, seed):
    chance = random.Random(seed)  # noqa: S311  when to kill need not be a secret
    acknowledged, rounds = set(), 2
    database = Database(tmp_path)
    running = SqlitePassages(database)  # a server that lives through it all
    for _ in range(rounds):
        with Writer(tmp_path, max(acknowledged, default=-1) + 1) as writer:
            for _ in range(chance.randint(1, 12)):
                writer.next_batch()
            for _ in range(chance.randint(0, 60_000)):
                pass  # so that it dies anywhere in a batch
        acknowledged |= set(writer.acknowledged)
        found = indexed(running)
        assert found == indexed(SqlitePassages(Database(tmp_path)))
        assert len(found) % SIZE == 0
        whole = {pmid for batch in acknowledged for pmid in pmids(batch)}
        assert whole <= found
        assert len(found - whole) <= SIZE
        assert found <= SqliteDocuments(database).heads(sorted(found)).keys()
        assert check(database) == ()
    database.close()


def test_a_running_reader_sees_what_another_process_has_just_stored(tmp_path):
    reader = SqlitePassages(Database(tmp_path))
    with Writer(tmp_path, 0) as writer:
        for _ in range(20):
            batch = writer.next_batch()
            assert indexed(reader, f"b{batch}") == set(pmids(batch))


def test_two_writers_take_turns(tmp_path):
    reader = SqlitePassages(Database(tmp_path))
    with Writer(tmp_path, 0) as one, Writer(tmp_path, 1_000) as other:
        done = [writer.next_batch() for _ in range(15) for writer in (one, other)]
        found = indexed(reader)
    assert {pmid for batch in done for pmid in pmids(batch)} <= found
    assert check(Database(tmp_path)) == ()


USE_IT = """
import sys
from pathlib import Path
from bio_mcp.adapters.embedded.database import Database
database = Database(Path(sys.argv[1]))
with database.reading() as connection:
    connection.execute("SELECT count(*) FROM heads").fetchone()
database.close()
"""


def test_another_process_that_ends_leaves_the_log_to_those_who_use_it(tmp_path):
    database = Database(tmp_path)
    with database.writing() as connection:
        connection.execute("INSERT INTO settings VALUES ('a', 'b')")
    log = tmp_path / "corpus.sqlite3-wal"
    before = log.stat()
    with database.reading(), database.reading():  # a second connection of this process
        pass
    subprocess.run([sys.executable, "-c", USE_IT, str(tmp_path)], check=True)
    assert (log.stat().st_ino, log.stat().st_size) == (before.st_ino, before.st_size)
    with database.reading() as connection:
        assert connection.execute("SELECT value FROM settings WHERE name = 'a'").fetchone() == ("b",)


WITHOUT_LOCKS = f"""
import sys
sys.modules["fcntl"] = None
{USE_IT}
from bio_mcp.adapters.embedded.sync_state import SqliteLeases
leases = SqliteLeases(database)
assert leases.acquire("a", "one", 60) and not leases.acquire("a", "two", 60)
"""


def test_a_system_without_posix_locks_can_use_a_corpus(tmp_path):
    subprocess.run([sys.executable, "-c", WITHOUT_LOCKS, str(tmp_path)], check=True)
