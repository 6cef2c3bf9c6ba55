"""A corpus's term on its way by the SAM CLI, samconfig.toml and CloudFormation into the event of its schedule."""

import json
import os
import subprocess

import pytest
import yaml

from scripts.configure_stack import configured
from scripts.docs import ROOT
from tests.emulated.build import QUIET, SAM
from tests.emulated.clients import REGION, connect
from tests.emulated.emulator import emulator
from tests.support.aws_template import TEMPLATE

pytestmark = pytest.mark.timeout(240)
KEPT = ["Corpus1Schedule", "ScheduleRole", "WorkQueue", "DeadLetters"]
TERMS = ['"heart failure"[tiab] OR "Alzheimer\'s disease"', 'statins[tiab] AND "heart failure"[mesh]']


@pytest.fixture(scope="module")
def endpoint():
    with emulator(AUTH="false") as running:
        yield running.url


@pytest.fixture
def project(tmp_path):
    """A directory with the template's schedule of the first corpus and what that needs."""
    parts = {name: TEMPLATE["Resources"][name] for name in KEPT}
    asked = {name: TEMPLATE["Parameters"][name] for name in ("SyncSchedule", "Corpus1Key", "Corpus1Term")}
    conditions = {"HasCorpus1": TEMPLATE["Conditions"]["HasCorpus1"]}
    made = {"Parameters": asked, "Conditions": conditions, "Resources": parts}
    samconfig = (ROOT / "samconfig.toml").read_text()
    (tmp_path / "samconfig.toml").write_text(samconfig.replace('"bio-mcp"', f'"{tmp_path.name.replace("_", "-")}"'))
    (tmp_path / "template.yaml").write_text(yaml.safe_dump(made, sort_keys=False))
    return tmp_path


def deployed(project, endpoint, *options, typed=""):
    given = {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    command = [SAM, "deploy", "--template-file", "template.yaml", *options]
    done = subprocess.run(
        command, cwd=project, env={**os.environ, **QUIET, **given}, input=typed, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def scheduled(endpoint, key):
    schedules = connect(endpoint)("scheduler")
    targets = [schedules.get_schedule(Name=each["Name"])["Target"] for each in schedules.list_schedules()["Schedules"]]
    inputs = [each["Input"] for each in targets if "Input" in each]  # the heartbeat's has none
    [event] = [each for each in map(json.loads, inputs) if each["arguments"]["query_key"] == key]
    return event["arguments"]["term"]


def by_our_questions(project, endpoint, key, term):
    text = configured((project / "samconfig.toml").read_text(), "default", REGION, given(key, term))
    (project / "samconfig.toml").write_text(text)
    deployed(project, endpoint, "--no-confirm-changeset")


def by_sams_questions(project, endpoint, key, term):
    typed = ["", REGION, "", key, term, "n", "y", "n", "y", "", ""]
    deployed(project, endpoint, "--guided", typed="\n".join(typed) + "\n")


def given(key, term):
    return {"Corpus1Key": key, "Corpus1Term": term}


@pytest.mark.parametrize(("asked", "term"), list(zip([by_our_questions, by_sams_questions], TERMS, strict=True)))
def test_a_term_with_quotation_marks_is_the_same_after_a_second_deployment(project, endpoint, asked, term):
    key = asked.__name__
    asked(project, endpoint, key, term)
    assert scheduled(endpoint, key) == term
    template = project / "template.yaml"
    template.write_text(template.read_text().replace("MaximumRetryAttempts: 10", "MaximumRetryAttempts: 9"))
    deployed(project, endpoint, "--no-confirm-changeset")
    assert scheduled(endpoint, key) == term
