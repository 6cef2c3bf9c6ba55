"""Leases of processes that run, that were killed, and that another container runs."""

import subprocess
import sys
from contextlib import contextmanager

import pytest

from bio_mcp.adapters.embedded.database import LOCK_FILE, Database, presence_in
from bio_mcp.adapters.embedded.sync_state import SqliteLeases
from bio_mcp.errors import StoreFailed

CONTAINER = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]


@pytest.fixture
def leases(tmp_path, closed):
    return SqliteLeases(closed(Database(tmp_path)))


@contextmanager
def holder(directory, within=()):
    command = [*within, sys.executable, "-m", "tests.adapters.embedded.holding", str(directory), "sync:q"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "True\n"
    try:
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.read()  # ends with the last process that holds the other end
        process.stdout.close()


def container():
    """What starts a process among process ids of its own; nothing where this machine does not let us."""
    try:
        works = subprocess.run([*CONTAINER, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        works = False
    return CONTAINER if works else []


@pytest.mark.parametrize("where", ["here", "in a container"])
def test_a_lease_is_held_while_its_process_runs_and_free_once_it_is_killed(tmp_path, leases, where):
    with holder(tmp_path, within=container() if where == "in a container" else []):
        assert not leases.acquire("sync:q", "me", 60)
    assert leases.acquire("sync:q", "me", 60)


def test_a_process_has_one_presence_in_a_directory_for_as_long_as_somebody_holds_it(tmp_path):
    first = presence_in(tmp_path)
    second = presence_in(tmp_path)
    assert first is second
    mark = first.mark
    del first
    assert all(second.is_running(each) for each in (mark, "", "4711:99"))  # the last two as of nobody who is known
    del second
    assert not presence_in(tmp_path).is_running(mark)


def test_a_directory_that_cannot_be_used_is_reported(tmp_path):
    (tmp_path / LOCK_FILE).mkdir()
    with pytest.raises(StoreFailed, match="cannot be written"):
        presence_in(tmp_path)
