"""`bio-mcp load`: begins bulk loads, and says how they go."""

import json
from datetime import UTC, datetime

import pytest

from bio_mcp.doors.cli.program import run
from bio_mcp.ports.loading import Run
from bio_mcp.settings import Settings
from tests.doors.command_line import Ran
from tests.folder_files import FolderFiles

BEGAN = datetime(2026, 12, 15, 9, tzinfo=UTC)


class Stack:
    """What the commands ask of a stack."""

    def __init__(self, home):
        self.load_files, self.load_runs = FolderFiles(home), self
        self.runs, self.prepare_model = [], None

    def start(self, given):
        self.runs.append(Run(f"run{len(self.runs)}", "running", BEGAN, given=given))
        return self.runs[-1].name

    def latest(self):
        return self.runs[-1] if self.runs else None

    def get(self, name):
        return next(each for each in self.runs if each.name == name)

    def close(self):
        """Nothing is open."""


@pytest.fixture
def stack(tmp_path):
    return Stack(tmp_path / "load")


@pytest.fixture
def load(stack, tmp_path, capsys):
    def command(*argv):
        code = run(["load", *argv], configure=lambda: Settings(home=tmp_path), wire=lambda _: stack)
        return Ran(code, *capsys.readouterr())

    return command


def test_a_load_is_begun_with_what_was_asked(load, stack):
    assert load("start").code == 0
    assert "The load run1 began" in load("start", "--fetch", "--again").out
    assert [dict(each.given) for each in stack.runs] == [
        {"fetch": False, "again": False},
        {"fetch": True, "again": True},
    ]


def test_without_a_load_there_is_no_status(load):
    ran = load("status")
    assert ran.code == 1
    assert "bio-mcp load start begins one" in ran.err


def test_a_load_on_its_way_says_what_each_stage_has_to_do(load, stack):
    load("start")
    items = [{"name": f"f{number}"} for number in range(3)]
    stack.load_files.put("runs/run0/fetch", json.dumps(items).encode())
    stack.load_files.put("runs/run0/load", json.dumps(items).encode())
    stack.load_files.put("runs/run0/loaded/f0", b"{}")
    ran = load("status")
    assert ran.code == 0
    for line in ("run0: running", "3 files to fetch from NCBI", "3 files to load", "1 loaded, 2 left, 0 failed"):
        assert line in ran.out
    assert json.loads(load("status", "--json").out)["left"] == ["f1", "f2"]


def test_files_that_failed_are_named_and_the_command_fails(load, stack):
    load("start")
    for number in range(52):
        note = {"file": f"f{number:02}", "stage": "list", "reason": "It is cut short."}
        stack.load_files.put(f"runs/run0/failed/f{number:02}", json.dumps(note).encode())
    ran = load("status", "run0")
    assert ran.code == 1
    assert "f00 (list): It is cut short." in ran.err
    assert "f49" in ran.err
    assert "f50" not in ran.err
    assert "and 2 more" in ran.err


def test_a_load_that_ended_badly_fails_the_command(load, stack):
    stack.runs.append(Run("run0", "aborted", BEGAN, BEGAN))
    assert load("status").code == 1


@pytest.mark.parametrize("command", ["start", "status"])
def test_on_one_machine_the_command_says_what_to_do_there(command, cli):
    ran = cli("load", command)
    assert ran.code == 1
    assert "bio-mcp import" in ran.err
