"""Dead letters of the deployed stack, by the commands of the runbook and with no more rights than it names."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.all.emulated.conftest import Papers
from tests.all.emulated.test_projects import PAPER, put
from tests.emulated.build import ROOT
from tests.emulated.stack import until
from tests.support.aws_ports import put_unsent

pytestmark = pytest.mark.timeout(600)
SECTION = (ROOT / "docs/runbook.md").read_text().partition("## What is in the dead letters")[2].partition("\n## ")[0]
COMMANDS = dict(re.findall(r"^bio-mcp admin letters (\w+)(.*)$", SECTION, re.MULTILINE))  # the last of each word
GIVEN_UP_S = 300
PROJECT = "lab/letters"


class Operator:
    """Somebody with the runbook's rights, in a shell with the stack's settings."""

    def __init__(self, stack):
        self.stack, iam = stack, stack.client("iam")
        iam.create_user(UserName="night-shift")
        [policy] = re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)
        iam.put_user_policy(UserName="night-shift", PolicyName="letters", PolicyDocument=policy)
        key = iam.create_access_key(UserName="night-shift")["AccessKey"]
        rights = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
        self.env = {**os.environ, **stack.environment, **rights}

    def types(self, word, letter_id=""):
        """The answer of the runbook's command, and its exit code."""
        arguments = shlex.split(COMMANDS[word].replace("ID", letter_id))
        program = Path(sys.executable).with_name("bio-mcp")
        command = [program, "admin", "letters", word, *arguments, "--json"]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        assert done.stdout, done.stderr
        return json.loads(done.stdout), done.returncode

    def letters(self):
        body, code = self.types("list")
        assert code == 0, body
        return {each["call"]: each for each in body["letters"]}


@pytest.fixture(scope="module")
def operator(up):
    return Operator(up.stack)


@pytest.fixture(scope="module")
def fallen(up, operator, no_letters):
    """A file for a project that nobody made, poison, and what a schedule and the rule of the inbox could not send."""
    stack = up.stack
    queues = {name: stack.outputs[f"{name}Url"] for name in ("WorkQueue", "IngestQueue")}
    queues["DeadLetters"] = stack.outputs["DeadLettersUrl"]
    stack.send("not JSON")
    put(stack, f"{PROJECT}/paper.pdf", PAPER.read_bytes())
    operator.papers = Papers(up, 4)
    request = json.dumps({"MessageBody": json.dumps(operator.papers.event)})
    put_unsent(stack.client("sqs"), queues, "SCHEDULE_ARN", "WorkQueue", request)
    until(lambda: len(stack.dead()) == 3, GIVEN_UP_S, "dead letter of each")
    return operator


def test_each_letter_says_how_it_came_and_why_it_failed_in_the_words_of_the_log(fallen):
    letters = fallen.letters()
    [poison] = [each for call, each in letters.items() if call.startswith("none: ")]
    [file] = [each for call, each in letters.items() if PROJECT in call]
    assert (poison["origin"], file["origin"]) == ("queue work", "queue ingest")
    assert "the message is not JSON" in poison["reason"]
    assert f"Project '{PROJECT}' not found" in file["reason"]
    assert file["tries"] == 5
    assert file["queued_at"] < file["failed_at"]
    sync = letters[f"pubmed.sync_delta {fallen.papers.key}"]
    assert (sync["origin"], sync["queue"]) == ("schedule nightly", "work")
    assert sync["reason"].startswith("AccessDenied")


def test_a_file_whose_project_was_made_since_and_a_schedules_call_are_made_again(fallen, up):
    letters = fallen.letters()
    [file] = [each for call, each in letters.items() if PROJECT in call]
    shown, _ = fallen.types("show", file["id"])
    assert json.loads(shown["message"])["detail"]["object"]["key"] == f"inbox/{PROJECT}/paper.pdf"
    up.stack.command("projects", "create", PROJECT)
    for letter in (file, letters[f"pubmed.sync_delta {fallen.papers.key}"]):
        body, code = fallen.types("redrive", letter["id"])
        assert (code, body["redriven"]) == (0, [letter["id"]])

    def ingested():
        return [
            each
            for each in up.stack.log("ingest")
            if each.get("message") == "ingested" and each.get("project") == PROJECT
        ]

    until(ingested, GIVEN_UP_S, "ingest")
    fallen.papers.until_synced()
    assert set(fallen.papers.stored()) == fallen.papers.wanted
    assert [each["origin"] for each in fallen.letters().values()] == ["queue work"]


def test_what_no_try_makes_well_is_deleted(fallen):
    [poison] = fallen.letters().values()
    body, code = fallen.types("delete", poison["id"])
    assert (code, body["deleted"]) == (0, [poison["id"]])
    assert fallen.letters() == {}
    assert fallen.types("show", poison["id"])[1] == 1
