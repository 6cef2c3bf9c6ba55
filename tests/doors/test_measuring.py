"""What CloudWatch is told of calls."""

import json

import pytest

from bio_mcp.call import Outcome
from bio_mcp.doors.aws.tool_function import handler_for, measured
from bio_mcp.errors import BudgetSpent, Forbidden, InvalidInput, NotFound, StoreFailed
from tests.doors import queued_sample, sample
from tests.doors.conftest import NO_BACKENDS
from tests.doors.lambda_bridge import context
from tests.doors.test_sqs import Ports, Queue, calling, record

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
