"""A corpus that this user may only read can be searched; what is made is this user's alone."""

import os
import shutil
import stat
import tempfile
from contextlib import closing
from dataclasses import astuple
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from bio_mcp.adapters.embedded.blobs import DirectoryBlobs
from bio_mcp.adapters.embedded.database import FILE, Database, presence_in
from bio_mcp.adapters.embedded.integrity import data_directory
from bio_mcp.adapters.embedded.schema import MIGRATIONS
from bio_mcp.adapters.embedded.side_files import SqliteCache
from bio_mcp.health import WARN
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.syncing.applying import apply_records
from tests.adapters.embedded.reader import as_reader
from tests.doors.command_line import sample
from tests.support.corpus import DIM, Corpus
from tests.syncing.stored import gone

QUERY = PassageQuery((), np.eye(DIM, dtype=np.float32)[0])  # finds every paper


@pytest.fixture
def home():
    """A directory that others may look into, where pytest's own are root's alone."""
    made = Path(tempfile.mkdtemp(prefix="bio-mcp-read-only-"))
    made.chmod(0o755)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


def fill(home):
    with Corpus(home) as corpus:
        apply_records(islice(sample(), 5), corpus)


def read_only(home):
    for each in home.iterdir():
        each.chmod(0o444)
    home.chmod(0o555)


def searched(home):
    with Corpus(home) as corpus:
        return len(corpus.passages.hybrid_search(QUERY)), corpus.documents.count()


def test_a_corpus_that_may_only_be_read_is_searched_and_not_written(home):
    fill(home)
    everything = list(searched(home))
    read_only(home)
    before = sorted(each.name for each in home.iterdir())
    assert as_reader(lambda: searched(home)) == everything == [5, 5]
    assert "cannot be written" in as_reader(lambda: Corpus(home).documents.delete(gone("1")))
    assert sorted(each.name for each in home.iterdir()) == before


def test_a_corpus_whose_log_may_only_be_read_is_searched_with_what_the_log_holds(home):
    fill(home)
    with Corpus(home) as writer:
        apply_records(islice(sample(), 9), writer)
        assert (home / f"{FILE}-wal").stat().st_size
        read_only(home)
        assert as_reader(lambda: searched(home)) == [9, 9]


def test_a_change_of_a_corpus_that_is_only_read_is_seen(home):
    fill(home)
    read_only(home)

    def twice():
        with Corpus(home) as corpus:
            before = corpus.documents.count()
            os.write(ready, b".")
            os.read(done, 1)
            return before, corpus.documents.count(), len(corpus.passages.hybrid_search(QUERY))

    (written, ready), (done, write_done) = os.pipe(), os.pipe()
    writer = os.fork()
    if not writer:
        os.read(written, 1)
        home.chmod(0o755)
        for each in home.iterdir():
            each.chmod(0o644)
        with Corpus(home) as corpus:
            apply_records(islice(sample(), 9), corpus)
        read_only(home)
        os.write(write_done, b".")
        os._exit(0)
    assert as_reader(twice) == [5, 9, 9]
    os.waitpid(writer, 0)


def test_where_there_is_no_corpus_or_an_older_one_and_none_can_be_made_it_is_said_what_helps(home):
    read_only(home)
    assert "BIO_MCP_HOME" in as_reader(lambda: Corpus(home).documents.count())
    home.chmod(0o755)
    with closing(Database(home, migrations=MIGRATIONS[:-1])) as database, database.reading():
        pass
    read_only(home)
    assert "older bio-mcp" in as_reader(lambda: Corpus(home).documents.count())


def test_the_doctor_says_that_it_can_be_searched_and_not_changed(home):
    fill(home)
    read_only(home)
    with Corpus(home) as corpus:
        state, found, remedy, _ = as_reader(lambda: astuple(data_directory(corpus.settings.home)))
    assert (state, "BIO_MCP_HOME" in remedy) == (WARN, True)
    assert "searched and not changed" in found


def cache(home):
    with closing(SqliteCache(home, 1)) as made:
        made.put({"a": b"b"}, 60)


@pytest.mark.parametrize(
    ("make", "files"),
    [
        (fill, [FILE]),
        (cache, ["cache.sqlite3"]),
        (lambda home: DirectoryBlobs(home / "blobs").put("raw", b"b"), ["blobs"]),
        (presence_in, ["processes.lock"]),
    ],
)
def test_what_is_made_is_this_users_alone(tmp_path, make, files):
    mask = os.umask(0o022)
    try:
        stored = make(tmp_path / "above" / "home")
    finally:
        os.umask(mask)
    for path in [tmp_path / "above", *(tmp_path / "above" / "home").rglob("*")]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077 or path.name == "heard", path
    assert all((tmp_path / "above" / "home" / name).exists() for name in files)
    del stored
