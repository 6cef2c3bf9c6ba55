"""kill -9 of a real process at each step of a run, and the run that heals it, whose log has it all."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.extracting.herbarium import left_by, opened, writes
from tests.extracting.test_run import write_files

KILLS = [
    ("jobs.put", 2, "after"),
    ("projects.put", 1, "after"),
    ("collections.replace", 1, "after"),
    ("project_documents.put", 1, "after"),
    ("graph.put", 1, "before"),
    ("graph.put", 1, "after"),
    ("jobs.put", 4, "after"),
]


@pytest.fixture(scope="module")
def killed():
    """Makes one run that kills itself, and gives its exit code."""
    command, one_thread = [sys.executable, "-m", "tests.extracting.killed"], os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=one_thread, text=True, **pipes) as started:

        def run(*arguments):
            print(json.dumps(arguments), file=started.stdin, flush=True)
            return int(started.stdout.readline())

        yield run


@pytest.mark.parametrize(("step", "nth", "when"), KILLS)
def test_a_run_killed_anywhere_is_healed_by_the_next_and_its_log_lists_every_write(tmp_path, killed, step, nth, when):
    with opened(tmp_path) as herbarium:
        write_files(herbarium)
        before, expected = herbarium.stored, writes(herbarium.run(dry_run=True))
    assert killed(str(tmp_path), step, nth, when) == -signal.SIGKILL
    with opened(tmp_path) as herbarium:
        healed = herbarium.run()
        assert healed.report.state == "complete"
        assert writes(healed) == expected
        assert herbarium.stored - before == left_by(expected)
        assert writes(herbarium.run()) == []
