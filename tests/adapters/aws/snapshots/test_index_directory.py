"""The directory of a process's copies is gone when the process is, however it ended."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from bio_mcp.adapters.aws.snapshots.directory import private_directory

KILLED = """
import os, sys
from pathlib import Path
from bio_mcp.adapters.aws.snapshots.directory import private_directory
with private_directory(Path(sys.argv[1])) as made:
    (made / "corpus.sqlite3").write_bytes(b"x")
    os._exit(9)
"""


def test_a_directory_is_this_users_alone_and_deleted_at_the_end(tmp_path):
    with private_directory(tmp_path) as made:
        assert made.stat().st_mode & 0o777 == 0o700
        with private_directory(tmp_path) as another:
            assert made.exists()
            assert made != another
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_deleted_by_the_next(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=60)
    [left] = tmp_path.iterdir()
    assert (left / "corpus.sqlite3").exists()
    with private_directory(tmp_path):
        assert not left.exists()


def test_one_that_is_being_made_is_not_taken_for_an_abandoned_one(tmp_path):
    def stays(_):
        with private_directory(tmp_path) as made:
            return made.exists()

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(stays, range(500)))
    assert list(tmp_path.iterdir()) == []
