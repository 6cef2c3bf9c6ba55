"""A function's handler, called as the Lambda service calls it, and what CloudWatch is told of calls."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bio_mcp.call import Outcome
from bio_mcp.doors.aws.tool_function import handler_for, measured
from bio_mcp.errors import BudgetSpent, Forbidden, InvalidInput, NotFound, StoreFailed
from tests.doors import queued_sample, sample
from tests.doors.conftest import NO_BACKENDS
from tests.doors.lambda_bridge import context
from tests.doors.test_sqs import Ports, Queue, calling, record

ROOT = Path(__file__).parents[2]


@pytest.fixture
def handler():
    return handler_for(sample, lambda: NO_BACKENDS)


def test_a_call_and_a_resource_are_answered_with_their_bodies(handler):
    for name in ("sample.echo", "sample_echo"):
        assert handler({"tool": name, "arguments": {"text": "x"}}, context()) == {"texts": ["x"], "nothing": None}
    assert handler({"tool": "tool.kept", "arguments": {"text": "x"}}, context())["audit"]["status"] == "ok"
    assert handler({"resource": "sample://paper/7"}, context()) == {"pmid": "7", "abstract": None}


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (None, "an event is"),
        ([], "an event is"),
        ("{}", "an event is"),
        ({}, "an event is"),
        ({"arguments": {}}, "an event is"),
        ({"tool": "sample.echo", "resource": "sample://info"}, "an event is"),
        ({"tool": 7}, "tool: Input should be a valid string"),
        ({"tool": "sample.echo", "arguments": "text"}, "arguments: Input should be a valid dictionary"),
        ({"tool": "sample.echo", "arguments": None}, "arguments: Input should be a valid dictionary"),
        ({"tool": "sample.echo", "Records": []}, "Records: Extra inputs are not permitted"),
        ({"tool": "sample.echo", "timeout_s": -1}, "timeout_s: Input should be greater than 0"),
        ({"tool": "sample.echo", "arguments": {}}, "text: This is required."),
        ({"resource": "sample://paper/x"}, "x is not a PMID"),
    ],
)
def test_a_malformed_event_is_answered_with_an_envelope_that_helps(handler, event, says):
    error = handler(event, context())["error"]
    assert error["code"] == "VALIDATION"
    assert says in error["message"]
    assert error["details"]["retryable"] is False


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ({"tool": "sample.ecko"}, "no tool sample.ecko; it serves sample.echo, sample.fail"),
        ({"resource": "sample://other/1"}, "it serves sample://paper/{pmid}"),
        ({"resource": "sample://paper/../../etc/passwd"}, "no such resource"),
    ],
)
def test_what_the_function_does_not_serve_is_answered_with_what_it_does(handler, event, says):
    error = handler(event, context())["error"]
    assert error["code"] == "NOT_FOUND"
    assert says in error["message"]


def test_the_deadline_is_lambdas_less_a_margin(handler):
    error = handler({"tool": "sample.wait"}, context(remaining_ms=1_520))["error"]
    assert error["code"] == "UPSTREAM"
    assert error["message"].startswith("out of time before")
    assert error["details"]["retryable"] is True


def test_a_caller_with_less_patience_than_lambda_sets_the_deadline(handler):
    error = handler({"tool": "sample.wait", "timeout_s": 0.02}, context())["error"]
    assert error["message"].startswith("out of time before")


def test_a_misconfigured_process_answers_with_an_envelope():
    def broken():
        raise InvalidInput("BIO_MCP_MODE is 'cloud'; it takes aws, embedded")

    answer = handler_for(sample, broken)({"tool": "sample.echo", "arguments": {"text": "x"}}, context())
    assert answer["error"]["message"] == "BIO_MCP_MODE is 'cloud'; it takes aws, embedded"


def in_an_environment_of_its_own(event):
    program = (
        "import json, sys\n"
        "from bio_mcp.doors.aws.tool_function import handler_for\n"
        "from tests.doors import sample\n"
        "from tests.doors.lambda_bridge import context\n"
        "answer = handler_for(sample, lambda: None)(json.loads(sys.argv[1]), context())\n"
        "print(json.dumps(answer), file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", program, json.dumps(event)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    return json.loads(done.stderr), [json.loads(line) for line in done.stdout.splitlines()]


def test_each_call_writes_one_line_of_json():
    event = {"tool": "sample.walk", "correlation_id": "abc"}
    _, [line] = in_an_environment_of_its_own(event)
    said = [line[name] for name in ("message", "tool", "status", "correlation_id")]
    assert said == ["call", "sample.walk", "ok", "abc"]
    assert line["function_request_id"] == "6b1b9f3e-1111-2222-3333-444455556666"
    assert len(line["in_hash"]) == len(line["out_hash"]) == 64


def test_a_bug_is_logged_with_its_traceback_and_answered_without():
    body, [trace, line] = in_an_environment_of_its_own({"tool": "sample.fail", "arguments": {"how": "bug"}})
    assert body["error"]["code"] == line["code"] == "UNKNOWN"
    assert "secret" not in json.dumps(body)
    assert "KeyError" in trace["exception"]
    assert trace["correlation_id"] in body["error"]["message"]


def test_a_caller_travels_in_the_event_and_stands_in_the_audit(handler):
    caller = {"subject": "ada", "scopes": ["read"], "tenant": "lab"}
    event = {"tool": "sample.echo", "arguments": {"text": "x"}, "outcome": True, "caller": caller}
    audit = handler(event, context())["audit"]
    assert (audit["subject"], audit["tenant"]) == ("ada", "lab")


def test_a_function_refuses_what_the_caller_has_no_scope_for(handler):
    caller = {"subject": "ada", "scopes": ["live"]}
    error = handler({"tool": "sample.echo", "arguments": {"text": "x"}, "caller": caller}, context())["error"]
    assert error["details"]["scope"] == "read"


ENVELOPE = {"error": {"code": "X"}}


@pytest.fixture
def told(capsys):
    """The metrics that were written to the log."""

    def lines():
        return [json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line]

    return lines


def test_a_call_tells_how_long_it_took_by_its_tool(monkeypatch, told):
    monkeypatch.setenv("BIO_MCP_METRICS", "stack")
    handler_for(sample, lambda: NO_BACKENDS)({"tool": "sample_echo", "arguments": {"text": "x"}}, context())
    [metric] = told()
    assert (metric["tool"], metric["service"]) == ("sample.echo", "bio_mcp")
    assert metric["Latency"][0] > 0
    assert "Failures" not in metric
    [described] = metric["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == "stack"
    assert [set(each) for each in described["Dimensions"]] == [{"service", "tool"}]


def test_a_call_that_a_queue_brings_is_measured_too(monkeypatch, told):
    monkeypatch.setenv("BIO_MCP_METRICS", "stack")
    handler = handler_for(queued_sample, lambda: Ports(Queue()))
    handler({"Records": [record("m1", calling("work", what="x"))]}, context(300_000))
    assert [each["tool"] for each in told()] == ["work"]


def test_without_a_namespace_nothing_is_reported(told):
    handler_for(sample, lambda: NO_BACKENDS)({"tool": "sample_echo", "arguments": {"text": "x"}}, context())
    assert told() == []


@pytest.mark.parametrize(
    ("failure", "counted"),
    [
        (None, "Failures"),
        (StoreFailed("no"), "Failures"),
        (BudgetSpent("no"), "Refused"),
        (InvalidInput("no"), None),
        (NotFound("no"), None),
        (Forbidden("no"), None),
    ],
)
def test_a_failure_is_counted_unless_the_caller_erred_and_a_budget_that_is_spent_by_itself(told, failure, counted):
    call = measured(lambda: "stack", lambda *_: Outcome(ENVELOPE, {}, failure))
    assert call(sample.echo, {}, NO_BACKENDS).body == ENVELOPE
    [metric] = told()
    assert {name for name in ("Failures", "Refused") if name in metric} == ({counted} if counted else set())
