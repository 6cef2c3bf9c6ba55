"""`events/` has each tool, resource and trigger of the stack, each with what it must answer, and all of it fits."""

import hashlib
import json
from typing import get_args

import jmespath
import pytest

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.aws.load_function import Step
from bio_mcp.doors.aws.queues import Event, call_for
from tests.sam_local.local import PUBLISHED
from tests.support.aws_template import FUNCTIONS, of, rendered
from tests.support.examples import EVENTS, EXPECTED, path_of

OVER_HTTP = {"authorize", "console", "mcp_http"}
ALL = {
    str(path.relative_to(EVENTS)): json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(EVENTS.glob("*/*.json"))
}
STEPS = set(get_args(Step.__annotations__["step"]))


def of_function(function):
    return [event for path, event in ALL.items() if path.startswith(f"{function}/")]


def calls_of(function):
    """What the events of a function ask of it, those of a queue by their bodies."""
    for event in of_function(function):
        yield from (json.loads(each["body"]) for each in event["Records"]) if "Records" in event else [event]


def md5_of(content):
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def does_not_fit(function, event):
    """Why `function` would refuse `event`, or a message that a queue brings in it; or None."""
    try:
        if function == "load":
            Step.model_validate(event)
        elif records := event.get("Records"):
            return next(filter(None, (does_not_fit(function, json.loads(each["body"])) for each in records)), None)
        elif function != "heartbeat" and function not in OVER_HTTP:
            parsed = Event.model_validate(call_for(event))
            if parsed.resource is None:
                tool = TOOLS[parsed.tool or ""]
                tool.input.model_validate(parsed.arguments)
                return None if tool.lambda_module == function else f"{tool.name} is served by {tool.lambda_module}"
    except (ValueError, KeyError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("path", ALL)
def test_an_event_fits_its_function(path):
    assert does_not_fit(path.partition("/")[0], ALL[path]) is None


@pytest.mark.parametrize(
    "event",
    [
        {"tool": "rag.search", "arguments": {}},
        {"tool": "rag.search", "arguments": {"query": "x", "k": 1}},
        {"tool": "rag.get", "arguments": {"doc_id": "pmid:1"}},
        {"tool": "nothing"},
        {"Records": []},
        {"Records": [{"body": '{"tool": "rag.search", "arguments": {}}'}]},
    ],
)
def test_an_event_that_does_not_fit_would_be_seen(event):
    assert does_not_fit("search", event)


def test_a_step_that_does_not_fit_would_be_seen():
    assert does_not_fit("load", {"step": "unload", "run": "example"})


def test_every_event_has_what_it_must_answer_and_nothing_else_has():
    assert set(EXPECTED) == set(ALL)
    assert [path for path, expected in EXPECTED.items() if not expected] == []
    for expected in EXPECTED.values():
        for expression in expected:
            jmespath.compile(expression)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_called_by_an_event_that_must_succeed(name):
    calls = [path for path, event in ALL.items() if event.get("tool") == name]
    assert str(path_of(TOOLS[name]).relative_to("events")) in calls
    assert [path for path in calls if not any("error" in each.lower() for each in EXPECTED[path])]


@pytest.mark.parametrize("uri", RESOURCES)
def test_a_resource_is_read_by_an_event(uri):
    resource = RESOURCES[uri]
    asked = [event["resource"] for event in of_function(resource.lambda_module) if "resource" in event]
    assert [each for each in asked if resource.match(each) is not None]


# ---- what calls the functions of the template ----


@pytest.mark.parametrize("function", [name for name, (_, each) in FUNCTIONS.items() if each.get("Events")])
def test_a_function_behind_a_queue_has_an_event_of_that_queue(function):
    [queue] = [each["Properties"]["Queue"] for each in FUNCTIONS[function][1]["Events"].values()]
    name = queue["Fn::GetAtt"].removesuffix(".Arn")
    records = [record for event in of_function(function) for record in event.get("Records", [])]
    assert [each for each in records if each["eventSourceARN"].endswith(f"-{name}")]
    assert [each for each in records if each["md5OfBody"] != md5_of(each["body"].encode())] == []


@pytest.mark.parametrize("name", [each for each in of("AWS::Scheduler::Schedule") if each != "HeartbeatSchedule"])
def test_what_a_schedule_sends_is_an_event(name):
    [corpus] = [json.loads(each["body"])["arguments"] for each in ALL["sync_delta/queue.json"]["Records"]]
    given = {f"Corpus{number}{part}": corpus[key] for number in "123" for part, key in TYPED.items()}
    target = of("AWS::Scheduler::Schedule")[name]["Target"]
    assert target["Arn"] == {"Fn::GetAtt": "WorkQueue.Arn"}
    assert json.loads(rendered(target["Input"], given)) in list(calls_of("sync_delta"))


TYPED = {"Key": "query_key", "Term": "term"}


def test_the_heartbeats_schedule_has_an_event():
    target = of("AWS::Scheduler::Schedule")["HeartbeatSchedule"]["Target"]
    assert target["Arn"] == {"Fn::GetAtt": "HeartbeatFunction.Arn"}
    assert [each["source"] for each in of_function("heartbeat")] == ["aws.scheduler"]


def test_a_file_in_the_inbox_has_an_event():
    [pattern] = [each["EventPattern"] for each in of("AWS::Events::Rule").values()]
    found = [each for each in calls_of("ingest") if each.get("source") in pattern["source"]]
    assert {each["detail-type"] for each in found} == set(pattern["detail-type"])


def test_every_step_of_a_bulk_load_has_an_event_about_a_file_that_is_published_here():
    assert {each["step"] for each in of_function("load")} == STEPS
    tags = {each["item"]["tag"] for each in of_function("load") if "tag" in each.get("item", {})}
    assert tags == {md5_of(PUBLISHED.read_bytes())}  # as S3 names a content


def test_every_function_behind_the_http_api_has_events_of_it():
    behind = {each["IntegrationUri"].get("Ref", each["IntegrationUri"].get("Fn::GetAtt")) for each in INTEGRATIONS}
    names = {name for name, (logical_id, _) in FUNCTIONS.items() if any(each.startswith(logical_id) for each in behind)}
    assert names == OVER_HTTP
    for name in names:
        assert {each["version"] for each in of_function(name)} == {"2.0"}


INTEGRATIONS = of("AWS::ApiGatewayV2::Integration").values()
