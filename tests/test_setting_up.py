"""`make setup`: one at a time in a folder, and anew after it was moved; and the Python that `make` finds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.docs import ROOT

SCRIPT = ROOT / "scripts/setting_up.py"
STEP = "import time; log = open('log', 'a'); log.write('begun '); log.flush(); time.sleep(0.3); log.write('done ')"


def setting_up(folder, command=("true",)):
    given = [sys.executable, str(SCRIPT), ".venv", *command]
    return subprocess.Popen(given, cwd=folder, stderr=subprocess.PIPE, text=True)


def reported(folder):
    started = setting_up(folder)
    message = started.communicate()[1]
    assert started.returncode == 0
    return message


def write_python(folder, does):
    python = folder / ".venv/bin/python"
    python.write_text(f"#!/bin/sh\n{does}\n")
    python.chmod(0o755)


@pytest.fixture
def folder(tmp_path):
    """A folder that was set up, with this Python as its environment's."""
    made = tmp_path / "here"
    for path in (".venv/bin", ".venv/share/model", ".cache/sam"):
        (made / path).mkdir(parents=True)
    write_python(made, f'exec {sys.executable} "$@"')
    for path in (".venv/.run", ".venv/share/model/weights", ".cache/sam/.installed"):
        (made / path).touch()
    reported(made)
    return made


def test_two_at_once_take_turns(tmp_path):
    both = [setting_up(tmp_path, (sys.executable, "-c", STEP)) for _ in range(2)]
    message = "".join(each.communicate()[1] for each in both)
    assert (tmp_path / "log").read_text() == "begun done begun done "
    assert message == "Another make is setting this folder up: waiting for it.\n"


def test_a_failure_is_passed_on(tmp_path):
    started = setting_up(tmp_path, ("false",))
    started.communicate()
    assert started.returncode == 1


def test_an_environment_in_its_place_is_left_alone(folder):
    assert reported(folder) == ""
    assert (folder / ".venv/.run").exists()


def moved(folder):
    return folder.rename(folder.with_name("elsewhere"))


def without_python(folder):
    (folder / ".venv/bin/python").unlink()
    return folder


def with_another_python(folder):
    write_python(folder, "exit 1")
    return folder


@pytest.mark.parametrize("change", [moved, without_python, with_another_python])
def test_what_cannot_be_used_any_more_is_reported_and_removed_but_for_the_model(folder, change):
    changed = change(folder)
    assert reported(changed).startswith("This folder was moved, or its Python is gone")
    left = sorted(str(each.relative_to(changed)) for each in changed.rglob("*") if each.is_file())
    assert left == [".cache/setup.lock", ".venv/.place", ".venv/share/model/weights"]
    assert reported(changed) == ""


def test_make_sets_up_through_it():
    command = ["env", "-u", "MAKEFLAGS", "make", "--dry-run", "run"]  # the tests may be run by a make of their own
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"{Path('scripts/setting_up.py')} .venv " in made
    assert made.index("setting_up") < made.index("bio-mcp serve")


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def found(tmp_path):
    """What `make` finds where `directory` is the first of PATH."""

    def found(directory):
        env = {"PATH": f"{directory}:{os.environ['PATH']}", "HOME": str(tmp_path / "home")}
        return subprocess.run(["make", "-s", "python313"], cwd=ROOT, env=env, capture_output=True, text=True).stdout

    return found


def test_a_shim_that_runs_nothing_leads_to_what_is_installed_beside_it(tmp_path, found):
    program(tmp_path / "shims/python3.13", "echo 'pyenv: python3.13: command not found' >&2; exit 127")
    there = program(tmp_path / "versions/3.13.9/bin/python3.13", 'echo "$0"')
    assert os.path.realpath(found(tmp_path / "shims").strip()) == str(there)


def test_a_python_on_the_path_is_taken(tmp_path, found):
    there = program(tmp_path / "bin/python3.13", 'echo "$0"')
    assert found(tmp_path / "bin").strip() == str(there)
