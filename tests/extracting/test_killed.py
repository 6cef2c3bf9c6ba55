"""kill -9 of a real process at each step of a run, and the run that heals it, whose log has it all."""

import signal

import pytest

from tests.extracting.herbarium import left_by, opened, writes
from tests.extracting.test_run import write_files
from tests.support.killing import killing

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
    with killing("tests.extracting.killed") as run:
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
