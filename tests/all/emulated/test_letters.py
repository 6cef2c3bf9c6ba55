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

    def runs(self, word, letter_id="", *more):
        """The runbook's command, as it is typed."""
        arguments = shlex.split(COMMANDS[word].replace("ID", letter_id))
        program = Path(sys.executable).with_name("bio-mcp")
        command = [program, "admin", "letters", word, *arguments, *more]
        return subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)

    def types(self, word, letter_id=""):
        """Its answer, and its exit code."""
        done = self.runs(word, letter_id, "--json")
        assert done.stdout, done.stderr
        return json.loads(done.stdout), done.returncode

    def letters(self):
        """Each by its origin."""
        body, code = self.types("list")
        assert code == 0, body
        return {each["origin"]: each for each in body["letters"]}


@pytest.fixture(scope="module")
def operator(up):
    return Operator(up.stack)


@pytest.fixture(scope="module")
def fallen(up, operator, no_letters):
    """A letter of each origin: of a file for a project that nobody made, of poison, of what could not be sent."""
    stack, sqs = up.stack, up.stack.client("sqs")
    queues = {name: stack.outputs[f"{name}Url"] for name in ("WorkQueue", "IngestQueue", "DeadLetters")}
    stack.send("not JSON")
    for queue in ("EvaluateQueue", "ExportQueue"):
        sqs.send_message(QueueUrl=stack.outputs[f"{queue}Url"], MessageBody='{"tool": "rag.search"}')
    put(stack, f"{PROJECT}/paper.pdf", PAPER.read_bytes())
    operator.papers = Papers(up, 4)
    request = json.dumps({"MessageBody": json.dumps(operator.papers.event)})
    put_unsent(sqs, queues, "SCHEDULE_ARN", "WorkQueue", request)
    file = {"bucket": {"name": stack.outputs["Bucket"]}, "object": {"key": f"inbox/{PROJECT}/paper.pdf"}}
    arrived = json.dumps({"source": "aws.s3", "detail-type": "Object Created", "detail": file})
    put_unsent(sqs, queues, "RULE_ARN", "IngestQueue", arrived, RULE_ARN="arn:aws:events:us-east-1:1:rule/inbox")
    sqs.send_message(QueueUrl=queues["DeadLetters"], MessageBody="by hand")
    until(lambda: len(stack.dead()) == 7, GIVEN_UP_S, "dead letter of each")
    return operator


def test_each_letter_says_how_it_came_and_why_it_failed_in_the_words_of_the_log(fallen):
    letters = fallen.letters()
    described = set(
        re.findall(r"`([a-z]+ ?\w*)`", "".join(re.findall(r"^\| (`(?!origin).*?) \|", SECTION, re.MULTILINE)))
    )
    named = {"schedule nightly": "schedule NAME", "rule inbox": "rule NAME"}
    assert {named.get(each, each) for each in letters} == described
    poison, file = letters["queue work"], letters["queue ingest"]
    assert "the message is not JSON" in poison["reason"]
    assert f"Project '{PROJECT}' not found" in file["reason"]
    assert file["tries"] == 5
    assert file["queued_at"] < file["failed_at"]
    assert PROJECT in file["call"]
    assert letters["rule inbox"]["call"] == file["call"]
    sync = letters["schedule nightly"]
    assert (sync["call"], sync["queue"]) == (f"pubmed.sync_delta {fallen.papers.key}", "work")
    assert sync["reason"].startswith("AccessDenied")
    assert "has no such tool" in letters["queue evaluate"]["reason"]
    assert "has no such tool" in letters["queue export"]["reason"]


def test_a_file_whose_project_was_made_since_and_what_was_never_sent_are_called_again(fallen, up):
    letters = fallen.letters()
    shown, _ = fallen.types("show", letters["queue ingest"]["id"])
    assert json.loads(shown["message"])["detail"]["object"]["key"] == f"inbox/{PROJECT}/paper.pdf"
    up.stack.command("projects", "create", PROJECT)
    for origin in ("queue ingest", "schedule nightly", "rule inbox"):
        body, code = fallen.types("redrive", letters[origin]["id"])
        assert (code, body["redriven"]) == (0, [letters[origin]["id"]])

    def ingested():
        lines = [each for each in up.stack.log("ingest") if each.get("message") == "ingested"]
        return len([each for each in lines if each.get("project") == PROJECT]) == 2

    until(ingested, GIVEN_UP_S, "second ingest of the file")
    fallen.papers.until_synced()
    assert set(fallen.papers.stored()) == fallen.papers.wanted
    assert fallen.letters().keys() == {"queue work", "queue evaluate", "queue export", "unknown"}


def test_what_somebody_wrote_is_sent_nowhere(fallen):
    letter = fallen.letters()["unknown"]["id"]
    body, code = fallen.types("redrive", letter)
    assert (code, body["redriven"]) == (1, [])
    assert fallen.runs("redrive", letter).stderr.count("cannot be sent again") == 1
    assert "unknown" in fallen.letters()


def test_what_no_try_makes_well_is_deleted(fallen):
    for letter in fallen.letters().values():
        body, code = fallen.types("delete", letter["id"])
        assert (code, body["deleted"]) == (0, [letter["id"]])
    assert fallen.letters() == {}
    assert fallen.types("show", letter["id"])[1] == 1
