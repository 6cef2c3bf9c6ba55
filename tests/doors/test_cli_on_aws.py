"""The command line in mode aws: doctor tells what is wrong of a stack; search, sync and checkpoint work over it."""

import json
from contextlib import closing
from dataclasses import replace

import pytest

from bio_mcp.doors.cli.program import run
from bio_mcp.health import FAIL, OK, WARN
from bio_mcp.settings import Settings
from tests.doors.command_line import Ran
from tests.support.aws_corpus import AwsCorpus
from tests.support.aws_ports import NOBODY, MotoPorts, client, put_unsent
from tests.support.corpus import Over

TERM = '"2021/06/02"[crdt] : "2021/06/02"[crdt]'


@pytest.fixture(scope="module")
def made():
    with pytest.MonkeyPatch.context() as environment:
        for name, value in NOBODY.items():
            environment.setenv(name, value)
        with closing(MotoPorts()) as made:
            yield made


@pytest.fixture
def stack(cli, made, ncbi):
    """Runs one command over the stack. `settings` replaces some."""
    ncbi.control.set_today("2026/01/01")
    corpus = AwsCorpus(made, ncbi.base_url, None, requests=1_000)
    named = corpus.settings

    def command(*argv, **settings):
        corpus.settings = replace(named, home=cli.home, **settings)
        cli.capsys.readouterr()
        stays_open = Over(corpus, close=lambda: None)
        code = run([*argv, "--json"], configure=lambda: corpus.settings, wire=lambda _: stays_open)
        return Ran(code, *cli.capsys.readouterr())

    yield command
    corpus.close()


def test_a_stack_that_is_whole_is_reported_as_whole(stack):
    ran = stack("doctor")
    states = {name: state for name, (state, _) in ran.checks.items()}
    assert {"tables", "queue", "export queue", "bucket", "event bus", "index", "projects", "ncbi"} <= states.keys()
    assert {name for name, state in states.items() if state != OK} == {"corpus"}  # which is empty
    assert ran.code == 0


@pytest.mark.parametrize(
    ("given", "check", "says"),
    [
        ({"table_jobs": "nothing"}, "tables", "store of jobs does not exist"),
        ({"table_jobs": "{prefix}-LeasesTable"}, "tables", "the table of jobs has the key lease, not job"),
        ({"table_cache": ""}, "tables", "BIO_MCP_TABLE_CACHE is not set"),
        ({"table_audit": ""}, "tables", "BIO_MCP_TABLE_AUDIT is not set"),
        ({"queue_url": ""}, "queue", "BIO_MCP_QUEUE_URL is not set"),
        ({"bucket": ""}, "bucket", "BIO_MCP_BUCKET is not set"),
        ({"event_bus": ""}, "event bus", "BIO_MCP_EVENT_BUS is not set"),
    ],
    ids=str,
)
def test_a_setting_that_is_missing_or_names_another_thing_is_reported_and_the_rest_is_well(
    stack, made, given, check, says
):
    reported = stack("doctor", **{name: each.format(prefix=made.prefix) for name, each in given.items()}).checks
    assert {name for name, (state, _) in reported.items() if state == FAIL} == {check}
    assert says in reported[check][1]
    assert "nothing" not in reported[check][1]


def test_a_table_of_kept_answers_is_only_needed_where_answers_are_kept(stack):
    state, message = stack("doctor", table_cache="", cache="off").checks["tables"]
    assert (state != FAIL, "cache" in message) == (True, False)


def test_what_is_not_there_fails_and_the_rest_is_reported(stack):
    url = "https://sqs.us-east-1.amazonaws.com/123456789012/nothing"
    ran = stack("doctor", queue_url=url, bucket="there-is-no-such-bucket", event_bus="nothing")
    assert ran.code == 1
    assert {name for name, (state, _) in ran.checks.items() if state == FAIL} == {"queue", "bucket", "event bus"}


def test_a_queue_without_dead_letters_is_a_warning(stack, made):
    url = client("sqs").create_queue(QueueName=f"{made.prefix}-plain")["QueueUrl"]
    assert stack("doctor", queue_url=url).checks["queue"][0] == WARN


def test_a_secret_is_never_shown(stack):
    ran = stack("doctor", ncbi_api_key="secretsmanager:the-name", auth_secret="s3cret" * 8)
    assert "the-name" not in ran.out + ran.err
    assert "s3cret" not in ran.out + ran.err


def test_the_commands_work_over_a_stack(stack):
    synced = stack("sync", "k", TERM)
    assert (synced.code, synced.json["state"]) == (0, "complete")
    assert synced.json["inserted"] == 5
    hits = stack("search", "disease").json["results"]
    assert hits
    paper = stack("get", hits[0]["doc_id"]).json
    assert paper["doc_id"] == hits[0]["doc_id"]
    assert stack("admin", "checkpoint", "get", "k").json["last_edat"]
    assert stack("admin", "checkpoint", "set", "k", "2020-01-01T00:00:00Z").json == {"ok": True}
    assert stack("admin", "checkpoint", "get", "k").json["last_edat"] == "2020-01-01T00:00:00Z"
    state, message = stack("doctor").checks["corpus"]
    assert state == OK
    assert "5 papers, 5 of them indexed" in message


def test_calls_that_were_given_up_are_a_warning(stack, made):
    client("sqs").send_message(QueueUrl=made.queues["DeadLetters"], MessageBody="poison")
    state, message = stack("doctor").checks["queue"]
    assert state == WARN
    assert "1 were given up" in message
    assert "bio-mcp admin letters" in message


def test_without_a_region_the_variable_is_named(nobody, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    settings = Settings(mode="aws", table_checkpoints="c", home=tmp_path)
    code = run(["admin", "checkpoint", "get", "k", "--json"], configure=lambda: settings)
    assert code == 2
    assert "AWS_REGION" in json.loads(capsys.readouterr().out)["error"]["message"]


SYNC = json.dumps({"tool": "pubmed.sync_delta", "arguments": {"query_key": "k", "term": TERM}})
FILE = json.dumps(
    {
        "source": "aws.s3",
        "detail-type": "Object Created",
        "detail": {"bucket": {"name": "b"}, "object": {"key": "inbox/lab/x.pdf"}},
    }
)


@pytest.fixture
def unsent(stack, made):
    """What the schedule, the rule of the inbox and a stranger put into the dead letters."""
    stack("admin", "letters", "delete", "--all", "--yes")
    rule = "arn:aws:events:us-east-1:123456789012:rule/stack-InboxRule-1"
    put_unsent(client("sqs"), made.queues, "SCHEDULE_ARN", "WorkQueue", json.dumps({"MessageBody": SYNC}))
    put_unsent(client("sqs"), made.queues, "RULE_ARN", "IngestQueue", FILE, RULE_ARN=rule)
    put_unsent(
        client("sqs"), made.queues, "RULE_ARN", "IngestQueue", FILE, RULE_ARN=rule, TARGET_ARN=f"{rule}/elsewhere"
    )
    put_unsent(client("sqs"), made.queues, "SCHEDULE_ARN", "WorkQueue", SYNC[:30], IS_PAYLOAD_TRUNCATED="true")
    client("sqs").send_message(QueueUrl=made.queues["DeadLetters"], MessageBody="poison")
    return stack


def test_letters_that_never_were_in_a_queue_say_how_they_came_and_are_sent_to_where_they_were_meant(unsent, made):
    found = unsent("admin", "letters", "list").json["letters"]
    calls = {(each["origin"], each["queue"]): each for each in found}
    sync = calls["schedule nightly", "work"]
    assert (sync["call"], sync["tries"]) == ("pubmed.sync_delta k", 11)
    assert sync["reason"] == "AccessDenied: is not authorized to perform: sqs:SendMessage"
    assert sync["failed_at"]
    file = calls["rule stack-InboxRule-1", "ingest"]
    assert file["call"] == "ingest_from_source lab s3://b/inbox/lab/x.pdf"
    left = {each["id"] for each in found if not each["queue"]}
    assert len(left) == 3
    ran = unsent("admin", "letters", "redrive", "--all", "--yes")
    assert (ran.code, set(ran.json["redriven"])) == (1, {sync["id"], file["id"]})
    assert all(any(each in warning for warning in ran.json["warnings"]) for each in left)
    assert {each["id"] for each in unsent("admin", "letters", "list").json["letters"]} == left
    for queue, body in {"WorkQueue": SYNC, "IngestQueue": FILE}.items():
        [message] = client("sqs").receive_message(
            QueueUrl=made.queues[queue], MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        )["Messages"]
        assert message["Body"] == body
        assert "MessageAttributes" not in message


def test_letters_that_another_command_holds_are_counted_and_kept(unsent, made):
    held = client("sqs").receive_message(QueueUrl=made.queues["DeadLetters"], VisibilityTimeout=60)["Messages"]
    ran = unsent("admin", "letters", "list").json
    assert ran["count"] == 4
    assert f"{len(held)} letter" in ran["warnings"][0]
    receipt = held[0]["ReceiptHandle"]
    client("sqs").change_message_visibility(
        QueueUrl=made.queues["DeadLetters"], ReceiptHandle=receipt, VisibilityTimeout=0
    )
    assert unsent("admin", "letters", "list").json["count"] == 5


def test_without_the_name_of_the_queue_the_setting_is_named(stack):
    ran = stack("admin", "letters", "list", dead_letters_url="")
    assert ran.code != 0
    assert "BIO_MCP_DEAD_LETTERS_URL is not set" in ran.json["error"]["message"]
