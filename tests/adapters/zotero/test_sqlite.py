"""The database of a Zotero: only ever copied, whole or not at all, and what it shows to be gone."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bio_mcp.adapters.retry import Backoff
from bio_mcp.adapters.zotero.copying import copied, marks_of
from bio_mcp.adapters.zotero.files import Files
from bio_mcp.adapters.zotero.sqlite import SqliteLibrary
from bio_mcp.errors import Conflict, Misconfigured, UpstreamFailed
from tests.adapters.clocks import Clock
from tests.zotero_server.database import write, write_better_bibtex

QUICK = Backoff(tries=2, sleep=lambda _: None)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "Zotero"
    folder.mkdir()
    return folder


@pytest.fixture
def reopened(library, folder):
    """A function that writes the library, and returns what reads it."""

    def opened(named=None, **options):
        write(library, folder, **options)
        return SqliteLibrary(folder, Files(folder, None), named)

    return opened


def titles(port, keys):
    return [each.title for each in port.items(keys)]


# The copy


def test_a_database_that_zotero_has_locked_is_read(library, folder, reopened):
    key = library.add("book", title="Locked")
    port = reopened()
    with closing(sqlite3.connect(folder / "zotero.sqlite", isolation_level=None)) as zotero:
        zotero.execute("PRAGMA locking_mode = EXCLUSIVE")
        zotero.execute("BEGIN EXCLUSIVE")
        assert titles(port, [key]) == ["Locked"]


def test_nothing_is_written_beside_the_live_database(library, folder, reopened):
    key = library.add("book", title="Live")
    port = reopened()
    before = {each.name: each.stat().st_mtime_ns for each in folder.iterdir()}
    port.items([key])
    assert {each.name: each.stat().st_mtime_ns for each in folder.iterdir()} == before


def test_what_stands_only_in_the_write_ahead_log_is_read(library, folder, reopened):
    key = library.add("book", title="Before")
    port = reopened()
    with closing(sqlite3.connect(folder / "zotero.sqlite", isolation_level=None)) as zotero:
        zotero.execute("PRAGMA journal_mode = WAL")
        zotero.execute("PRAGMA wal_autocheckpoint = 0")
        zotero.execute("UPDATE itemDataValues SET value = 'After' WHERE value = 'Before'")
        assert titles(port, [key]) == ["After"]


def test_a_transaction_that_is_half_written_is_rolled_back_in_the_copy(library, folder, reopened):
    keys = [library.add("book", title=f"Book {number}", abstractNote=str(number) * 3_000) for number in range(50)]
    port = reopened()
    with closing(sqlite3.connect(folder / "zotero.sqlite", isolation_level=None)) as zotero:
        zotero.execute("PRAGMA cache_size = 1")
        zotero.execute("BEGIN")
        zotero.execute("UPDATE itemDataValues SET value = value || ' half'")  # spills into the file
        zotero.execute("DELETE FROM items")
        assert sorted(titles(port, keys)) == sorted(f"Book {number}" for number in range(50))


class Restless:
    """Copies a file, which changes meanwhile for the first `times`."""

    def __init__(self, times):
        self.times = times

    def __call__(self, source, target):
        shutil.copyfile(source, target)
        self.times -= 1
        if self.times >= 0:
            with source.open("ab") as file:
                file.write(b" ")


def test_a_database_that_changes_while_it_is_copied_is_copied_again(library, folder):
    library.add("book", title="First")
    path, clock = write(library, folder), Clock()
    patience = Backoff(tries=3, sleep=clock.sleep)
    with copied(path, patience, Restless(2)) as (database, marks):
        assert database.execute("SELECT count(*) FROM items").fetchone()[0] == 2  # and one of a group
        assert marks == marks_of(path)
    assert len(clock.pauses) == 2


def test_a_database_that_never_rests_is_a_conflict(library, folder):
    path = write(library, folder)
    with pytest.raises(Conflict, match="writing"), copied(path, QUICK, Restless(99)):
        pass


def test_no_copy_stays_behind(library, folder):
    with copied(write(library, folder), QUICK) as (database, _):
        copy = Path(database.execute("PRAGMA database_list").fetchone()["file"])
        assert copy.exists()
        assert not copy.is_relative_to(folder)
    assert not copy.parent.exists()


@pytest.mark.parametrize("damage", [lambda content: content[: len(content) // 2], lambda _: b"", lambda _: b"no" * 500])
def test_a_damaged_database_is_a_failure_and_deletes_nothing(library, folder, damage):
    library.add("book", title="First")
    path = write(library, folder)
    path.write_bytes(damage(path.read_bytes()))
    port = SqliteLibrary(folder, Files(folder, None), patience=QUICK)
    with pytest.raises((Conflict, UpstreamFailed)):
        port.changes({})


def test_a_folder_without_a_database_is_a_matter_of_settings(tmp_path):
    with pytest.raises(Misconfigured, match="ZOTERO_DATA_DIR") as failed:
        SqliteLibrary(tmp_path, Files(tmp_path, None)).changes({})
    assert str(tmp_path) not in str(failed.value)


def test_an_unchanged_database_is_not_even_copied(library, folder, reopened):
    library.add("book", title="First")
    cursor = reopened().changes({}).cursor
    path = folder / "zotero.sqlite"
    status = path.stat()
    path.write_bytes(b"x" * status.st_size)  # would be refused
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    port = SqliteLibrary(folder, Files(folder, None), "users/475425", QUICK)
    assert port.changes(cursor).cursor == cursor


# Which library


def test_a_group_has_its_own_items(library, reopened):
    library.add("book", title="Mine")
    port = reopened("groups/2")
    assert (port.library_id, port.changes({}).changed) == ("groups/2", {"GROUPITM"})


def test_an_unknown_library_is_refused_with_those_that_there_are(reopened):
    with pytest.raises(Misconfigured, match="groups/2, users/475425"):
        reopened("groups/9").changes({})


# What is gone


def test_a_row_that_is_missing_in_an_older_copy_is_not_deleted(library, reopened):
    older = library.copy()
    key = library.add("book", title="Newer")
    cursor = reopened().changes({}).cursor
    library.__dict__.update(older.__dict__)
    assert key not in reopened().changes(cursor).deleted


def test_a_row_that_is_missing_at_the_same_version_is_not_deleted(library, reopened):
    key, _ = library.add("book", title="Lost"), library.add("book", title="Stays")
    cursor = reopened().changes({}).cursor
    del library.items[key]
    assert reopened().changes(cursor).deleted == frozenset()


def test_a_deletion_that_was_not_synced_yet_is_noted_by_zotero(library, reopened):
    key, _ = library.add("book", title="Deleted"), library.add("book", title="Stays")
    cursor = reopened(synced=False).changes({}).cursor
    library.delete(key)
    assert reopened(synced=False).changes(cursor).deleted == {key}


# Better BibTeX


@pytest.mark.parametrize("as_json", [False, True], ids=["a table", "a JSON document"])
def test_the_citekeys_of_better_bibtex_are_read_from_its_database(library, folder, reopened, as_json):
    plain = library.add("book", title="Plain")
    pinned = library.add("book", title="Pinned", extra="Citation Key: pinned2020")
    write_better_bibtex(folder, {plain: "plain2020", pinned: "other2020"}, as_json=as_json)
    found = {each.title: each.citekey for each in reopened().items([plain, pinned])}
    assert found == {"Plain": "plain2020", "Pinned": "pinned2020"}


def test_a_citekey_that_better_bibtex_changed_makes_its_item_change(library, folder, reopened):
    key = library.add("book", title="Plain")
    write_better_bibtex(folder, {key: "plain2020"})
    cursor = reopened().changes({}).cursor
    write_better_bibtex(folder, {key: "plain2020a"})
    assert reopened().changes(cursor).changed == {key}
