"""The GitHub Action: its step, run as a runner runs it, with a program that plays `uvx`."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

ACTION = yaml.safe_load((Path(__file__).parents[1] / "action.yml").read_text())
STEP = next(each for each in ACTION["runs"]["steps"] if each.get("id") == "check")
UVX = """#!/bin/sh
printf '%s\\n' "$*" >> calls
case "$*" in *bad*) exit 1;; *markdown*) echo "## References";; esac
"""


@pytest.fixture
def run(tmp_path):
    program = tmp_path / "bin" / "uvx"
    program.parent.mkdir()
    program.write_text(UVX)
    program.chmod(0o755)

    def step(files, **changed):
        given = {"FILES": files, "FAIL_ON": "retracted", "DIRECTORY": "out", "VERSION": "", **changed}
        places = {"GITHUB_OUTPUT": tmp_path / "output", "GITHUB_STEP_SUMMARY": tmp_path / "summary"}
        environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", **places, **given}
        ran = subprocess.run(["bash", "-c", STEP["run"]], env=environment, cwd=tmp_path, check=False)
        return ran.returncode, (tmp_path / "calls").read_text().splitlines()

    return step


def test_each_file_is_checked_once_for_a_report_and_once_for_code_scanning(run, tmp_path):
    code, calls = run("a.bib\nb c.ris\n")
    assert code == 0
    assert calls == [
        f"bio-mcp-literature check-refs --format {report} --fail-on retracted -- {file}"
        for place, file in enumerate(("a.bib", "b c.ris"), 1)
        for report in (f"sarif -o out/{place}.sarif", "markdown")
    ]
    assert (tmp_path / "summary").read_text() == "## References\n## References\n"
    assert (tmp_path / "output").read_text() == "sarif-directory=out\n"


def test_a_wrong_reference_fails_the_step_after_all_files_were_checked(run):
    code, calls = run("bad.bib\ngood.bib", VERSION="0.1.0")
    assert (code, len(calls)) == (1, 4)
    assert calls[0].startswith("bio-mcp-literature==0.1.0 check-refs")


def test_a_name_of_a_file_is_no_command(run, tmp_path):
    run("$(touch owned).bib\n--output=x")
    assert not (tmp_path / "owned").exists()


def test_every_input_reaches_the_step_by_its_environment():
    assert "${{" not in STEP["run"]
    named = " ".join(STEP["env"].values())
    assert [name for name in ACTION["inputs"] if f"inputs.{name} " not in named] == []
