"""The Python that compiles the layers and runs the emulator, where `make` finds it."""

import os
import subprocess

import pytest

from scripts.docs import ROOT


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
