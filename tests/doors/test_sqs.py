"""Records of an SQS queue through a function's handler, and what S3 says there of a file in the inbox."""

import json
import logging
from pathlib import Path

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.aws.queues import call_for
from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.errors import InvalidInput, StoreFailed
from tests.doors import queued_sample as sample
from tests.doors.lambda_bridge import context


class Queue:
    def __init__(self):
        self.sent, self.held, self.failed = [], [], []
        self.early = 0.0
        self.problem = None

    def send(self, event, delay_s=0):
        if self.problem:
            raise self.problem
        self.sent.append((event, delay_s))

    def hold(self, receipt, seconds):
        if self.problem:
            raise self.problem
        self.held.append((receipt, seconds))

    def fail(self, receipt, reason, wait_s=None):
        if self.problem:
            raise self.problem
        self.failed.append((receipt, reason, wait_s))

    def early_s(self, _attributes):
        return self.early


class Ports:
    def __init__(self, queue):
        self.continuations = queue


def record(name, body, receives=1):
    return {
        "messageId": name,
        "receiptHandle": f"handle-of-{name}",
        "body": body if isinstance(body, str) else json.dumps(body),
        "attributes": {"ApproximateReceiveCount": str(receives)},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
    }


def calling(tool, **arguments):
    return {"tool": tool, "arguments": arguments}


@pytest.fixture
def queue():
    return Queue()


@pytest.fixture
def made():
    sample.MADE.clear()
    return sample.MADE


@pytest.fixture
def deliver(queue, made):
    handler = handler_for(sample, lambda: Ports(queue))

    def call(*records, remaining_ms=300_000):
        answer = handler({"Records": list(records)}, context(remaining_ms))
        return [each["itemIdentifier"] for each in answer["batchItemFailures"]]

    return call


@pytest.fixture
def errors(caplog):
    caplog.set_level(logging.INFO, "bio_mcp.queued")
    return lambda: [each for each in caplog.records if each.name == "bio_mcp.queued" and each.levelname == "ERROR"]


def test_a_call_that_worked_is_done_with(deliver, queue, made):
    assert deliver(record("m1", calling("work", what="ok"))) == []
    assert made == ["ok"]
    assert (queue.sent, queue.failed) == ([], [])


def test_a_call_is_made_for_whoever_queued_it_and_so_is_its_next_try(deliver, queue, made):
    caller = {"subject": "ann", "scopes": ["read"], "tenant": "north", "client": ""}
    assert deliver(record("m1", {**calling("work", what="caller"), "caller": caller})) == []
    assert made == [("ann", "north")]
    deliver(record("m2", {**calling("work", what="busy"), "caller": caller}))
    assert queue.sent == [({**calling("work", what="busy"), "caller": caller}, 60.0)]


def test_a_record_stays_hidden_as_long_as_its_function_can_live_and_a_little_more(deliver, queue):
    deliver(record("m1", calling("work", what="ok"), receives=2), remaining_ms=300_000)
    assert queue.held == [("2 handle-of-m1", 300 - 1.5 + 30)]


def test_only_the_records_that_failed_come_again(deliver, errors):
    records = [
        record("m1", calling("work", what="ok")),
        record("m2", calling("work", what="outage")),
        record("m3", calling("work", what="bug")),
        record("m4", calling("work", what="fine")),
    ]
    assert deliver(*records) == ["m2", "m3"]
    assert [(each.message_id, each.tool, each.code) for each in errors()] == [
        ("m2", "work", "STORE"),
        ("m3", "work", "UNKNOWN"),
    ]


@pytest.mark.parametrize(("receives", "wait_s"), [(1, 30), (2, 120), (3, 480), (4, 900), (9, 900)])
def test_what_may_work_later_waits_longer_each_time(deliver, queue, receives, wait_s):
    deliver(record("m1", calling("work", what="outage"), receives))
    assert queue.failed == [(f"{receives} handle-of-m1", "STORE", wait_s)]


def test_what_says_when_to_try_again_is_tried_no_sooner(deliver, queue):
    deliver(record("m1", calling("work", what="slow down")))
    assert queue.failed[0][2] == 77


def test_what_will_never_work_is_not_waited_for(deliver, queue):
    assert deliver(record("m1", calling("work", what="wrong"))) == ["m1"]
    assert queue.failed == [("1 handle-of-m1", "VALIDATION", None)]


@pytest.mark.parametrize(
    "body",
    [
        "no JSON",
        "[]",
        "null",
        "{}",
        '{"tool": 7}',
        "[" * 100_000,
        json.dumps({"tool": "nothing"}),
        json.dumps({"resource": "sample://info"}),
        json.dumps({"tool": "work", "arguments": {"what": "ok"}, "more": 1}),
    ],
)
def test_poison_fails_and_is_reported_by_its_message_and_not_by_what_it_holds(deliver, queue, errors, made, body):
    assert deliver(record("poison", body), record("m2", calling("work", what="ok"))) == ["poison"]
    [error] = errors()
    assert (error.message_id, error.tool, error.receives) == ("poison", None, 1)
    assert queue.failed == [("1 handle-of-poison", "it cannot be read", None)]
    assert made == ["ok"]


def test_arguments_that_do_not_fit_fail_like_poison(deliver, errors):
    assert deliver(record("m1", calling("work", what="ok", secret="hunter2"))) == ["m1"]
    [error] = errors()
    assert error.code == "VALIDATION"
    assert "hunter2" not in str(vars(error))


@pytest.mark.parametrize(("how", "wait_s"), [("busy", 60), ("taken", 60), ("spent", 40_000)])
def test_what_waits_for_somebody_else_or_a_new_budget_goes_back_as_a_new_message(deliver, queue, errors, how, wait_s):
    event = calling("work", what=how)
    assert deliver(record("m1", event, receives=5)) == []
    assert queue.sent == [(event, wait_s)]
    assert (queue.failed, errors()) == ([], [])


def test_a_message_that_is_early_goes_back_for_the_rest_of_its_delay(deliver, queue, made):
    queue.early = 1_000.0
    event = calling("work", what="ok")
    assert deliver(record("m1", event)) == []
    assert queue.sent == [(event, 1_000.0)]
    assert made == []


def test_a_record_is_not_begun_without_the_time_for_it(deliver, queue, made, errors):
    assert deliver(record("m1", calling("work", what="ok")), remaining_ms=9_000) == ["m1"]
    assert made == []
    assert queue.failed == [("1 handle-of-m1", "no time", 0)]
    assert errors() == []


def test_a_call_has_what_lambda_leaves_of_the_time(deliver, made):
    deliver(record("m1", calling("work", what="time")), remaining_ms=100_000)
    assert 90 < made[0] <= 98.5


def test_the_message_id_is_the_calls_correlation_id(deliver, made):
    deliver(record("m1", calling("work", what="id")), record("m1", calling("work", what="id"), receives=2))
    assert made == ["m1", "m1"]


def test_a_queue_that_does_not_hear_costs_a_record_nothing_but_time(deliver, queue, made):
    queue.problem = StoreFailed("not allowed", retryable=False)
    assert deliver(record("m1", calling("work", what="ok"))) == []
    assert deliver(record("m2", calling("work", what="outage"))) == ["m2"]
    assert deliver(record("m3", calling("work", what="busy"))) == ["m3"]
    assert made == ["ok", "outage", "busy"]


def test_a_misconfigured_function_fails_every_record_and_says_why(errors):
    def broken():
        raise InvalidInput("BIO_MCP_QUEUE_URL is not set")

    answer = handler_for(sample, broken)({"Records": [record("m1", calling("work", what="ok"))]}, context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
    assert errors()[0].reason == "BIO_MCP_QUEUE_URL is not set"


@pytest.mark.parametrize("event", [{"Records": []}, {"Records": [{"eventSource": "aws:s3"}]}, {"Records": 7}])
def test_what_another_service_sends_is_no_queue(queue, event):
    answer = handler_for(sample, lambda: Ports(queue))(event, context())
    assert answer["error"]["code"] == "VALIDATION"


def test_a_folder_in_the_inbox_is_done_with_at_once(deliver, queue, errors):
    assert deliver(record("m1", put("inbox/lab/"))) == []
    assert (queue.failed, errors()) == ([], [])


def test_a_file_in_the_inbox_is_a_call_of_the_tool_that_ingests_it(deliver, made):
    assert deliver(record("m1", put("inbox/lab/heart/paper.pdf")), record("m2", put("inbox/paper.pdf"))) == ["m2"]
    assert made == [("lab/heart", "s3://papers/inbox/lab/heart/paper.pdf")]


ROOT = Path(__file__).parents[2]


def put(key, bucket="papers"):
    """What matters of the event that EventBridge hands on; keys stand in it as they are, not URL-encoded."""
    return {
        "id": "17793124-05d4-b198-2fde-7ededc63b103",
        "detail-type": "Object Created",
        "source": "aws.s3",
        "time": "2026-11-22T08:00:00Z",
        "detail": {"bucket": {"name": bucket}, "object": {"key": key, "size": 5}, "reason": "PutObject"},
    }


@pytest.mark.parametrize(
    ("key", "project"),
    [
        ("inbox/notes/paper.pdf", "notes"),
        ("inbox/lab/heart-failure/paper.pdf", "lab/heart-failure"),
        ("inbox/lab/a/b/Zwei Wörter + 100% #1?.pdf", "lab/a/b"),
        ("inbox/lab/%41.pdf", "lab"),
        ("inbox/inbox/x.pdf", "inbox"),
    ],
)
def test_the_folder_is_the_project_and_the_key_stays_as_it_is(key, project):
    arguments = {"project": project, "source": f"s3://papers/{key}"}
    assert call_for(put(key)) == {"tool": "ingest_from_source", "arguments": arguments}


def test_the_event_of_the_repository_is_a_call_that_its_tool_takes():
    [record] = json.loads((ROOT / "events/ingest/inbox.json").read_text())["Records"]
    call = call_for(json.loads(record["body"]))
    request = TOOLS[call["tool"]].input.model_validate(call["arguments"])
    assert (request.project, request.source[-27:]) == ("lab/heart-failure", "Statins in adults (2024).pdf"[-27:])


@pytest.mark.parametrize("key", ["inbox/", "inbox/lab/", "inbox/lab/heart-failure/"])
def test_a_folder_that_a_console_made_is_nothing_to_ingest(key):
    assert call_for(put(key)) is None


@pytest.mark.parametrize("key", ["inbox/paper.pdf", "articles/lab/paper.pdf", "inboxes/lab/paper.pdf", "paper.pdf"])
def test_a_key_without_a_project_is_refused(key):
    with pytest.raises(InvalidInput, match="folder that has the project's id"):
        call_for(put(key))


@pytest.mark.parametrize(
    "change",
    [
        {"detail-type": "Object Deleted"},
        {"detail": {}},
        {"detail": {"bucket": {"name": "papers"}, "object": {}}},
        {"detail": {"bucket": {"name": 7}, "object": {"key": "inbox/a/b"}}},
        {"detail": None},
    ],
)
def test_what_else_s3_says_is_refused(change):
    with pytest.raises(InvalidInput, match="not that an object was created"):
        call_for(put("inbox/lab/paper.pdf") | change)


@pytest.mark.parametrize("event", [{"tool": "x", "arguments": {}}, [], None, "text", {"source": "another"}])
def test_any_other_event_is_left_as_it_is(event):
    assert call_for(event) == event


def test_a_call_says_the_same_of_a_second_announcement():
    again = json.loads(json.dumps(put("inbox/lab/paper.pdf"))) | {"id": "another", "time": "2026-11-22T09:00:00Z"}
    assert call_for(again) == call_for(put("inbox/lab/paper.pdf"))
