"""The front door over functions of their own gives what it gives in one process."""

import json
import re
from contextlib import closing

import pytest
from mcp import MCPError
from mcp.client import Client

from bio_mcp.adapters.embedded.side_files import SqliteBudgets
from bio_mcp.callers import Caller
from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.doors.aws.mcp_function import invoking
from bio_mcp.doors.aws.remote import over_functions
from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.running import in_process
from bio_mcp.errors import DeadlineExceeded, FunctionBroke, InvalidInput, Misconfigured, UpstreamFailed
from bio_mcp.lazy import Lazy
from bio_mcp.scope import Limits
from bio_mcp.settings import Settings
from bio_mcp.tool import Context, resources_in, tools_in
from tests.doors import sample
from tests.doors.conftest import NO_BACKENDS
from tests.doors.lambda_bridge import context
from tests.support.corpus import Over

TOOLS_OF_SAMPLE = tools_in(sample)


class Handlers:
    """Functions as Lambda runs them: the event and the answer are JSON on their way."""

    def __init__(self, backends=NO_BACKENDS):
        self.handler = handler_for(sample, lambda: backends)
        self.invoked, self.prepared = [], []

    def invoke(self, function, event, _deadline, *, repeatable):
        self.invoked.append((function, event, repeatable))
        answer = self.handler(json.loads(json.dumps(event)), context())
        return json.loads(json.dumps(answer, ensure_ascii=False).encode())

    def prepare(self, patience_s):
        self.prepared.append(patience_s)


def server(invoke):
    return mcp_server.server(TOOLS_OF_SAMPLE.values(), resources_in(sample).values(), invoke)


def comparable(result):
    """Everything of a result but how long it took and which call it was."""
    dumped = json.loads(result.model_dump_json(by_alias=True))
    audit = dumped["_meta"]["io.github.bio-mcp/audit"]
    assert audit.pop("latency_ms") >= 0
    call = audit.pop("correlation_id")
    text = json.dumps(dumped)
    if call in text:  # a bug's message says where to look, and that is hashed too
        audit.pop("out_hash")
    return re.sub(r'latency_ms\\*": ?\d+', "latency", json.dumps(dumped).replace(call, "CALL"))


CALLS = [
    ("sample_echo", {"text": "m² über TNF-α", "times": 2}),
    ("sample.echo", {"text": "x", "times": 9}),
    ("sample_echo", {"text": "x", "time": 2}),
    ("sample_fail", {}),
    ("sample_fail", {"how": "bug"}),
    ("sample_walk", {"steps": 2}),
    ("tool_kept", {"text": "x"}),
]


async def assert_same(ask, era="2026-07-28"):
    """Ask in this process, and through functions."""
    given = []
    for invoke in (in_process(NO_BACKENDS), over_functions(Lazy(Handlers), str)):
        async with Client(server(invoke), mode=era) as client:
            try:
                given.append(comparable(await ask(client)))
            except MCPError as refused:
                given.append((refused.error.code, refused.error.message, refused.error.data))
    assert given[0] == given[1]


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_a_call_through_a_function_gives_what_it_gives_in_process(era, name, arguments):
    await assert_same(lambda client: client.call_tool(name, arguments), era)


@pytest.mark.anyio
@pytest.mark.parametrize("place", ["paper/7", "info", "paper/404", "paper/500", "paper/x"])
async def test_a_resource_through_a_function_is_or_fails_as_in_process(place):
    await assert_same(lambda client: client.read_resource(f"sample://{place}"))


def call(functions, name="sample.echo", arguments=None, seconds=5):
    invoke = over_functions(lambda: functions, lambda module: f"bio-{module}")
    return invoke(TOOLS_OF_SAMPLE[name], arguments or {"text": "x"}, Context("c0ffee", Deadline(seconds)))


def test_the_event_names_the_call_and_the_time_it_has():
    functions = Handlers()
    assert call(functions).body == {"texts": ["x"], "nothing": None}
    [(function, event, repeatable)] = functions.invoked
    assert function == "bio-sample"
    assert event["correlation_id"] == "c0ffee"
    assert 0 < event["timeout_s"] <= 5
    assert repeatable


def test_only_what_reads_may_be_sent_twice():
    functions = Handlers()
    call(functions, "sample.fail", {"how": "store"})
    assert functions.invoked[0][2] is False


def test_what_is_left_of_the_callers_budget_comes_back_with_the_answer(tmp_path):
    with closing(SqliteBudgets(tmp_path)) as budgets:
        limited = Over(None, limits=Limits(budgets, {"ncbi": 5, "ada:calls": 3}, {}, {}))
        invoke = over_functions(lambda: Handlers(limited), str)
        asked = Context("c0ffee", Deadline(5), caller=Caller("ada"))
        left = invoke(TOOLS_OF_SAMPLE["sample.echo"], {"text": "x"}, asked).budgets
    assert (left["calls"]["left"], left["calls"]["of"]) == (2, 3)


class Failing:
    def __init__(self, problem):
        self.problem = problem

    def invoke(self, *_args, **_more):
        if isinstance(self.problem, Exception):
            raise self.problem
        return self.problem


@pytest.mark.parametrize(
    ("problem", "code", "retryable"),
    [
        (UpstreamFailed("too many calls", retry_after_s=1), "UPSTREAM", True),
        (DeadlineExceeded("late"), "UPSTREAM", True),
        (InvalidInput("too long"), "VALIDATION", False),
        (FunctionBroke("Runtime.ExitError"), "UNKNOWN", False),
        ("Mock response", "UNKNOWN", False),
        ({"error": {"code": "NOT_FOUND"}}, "UNKNOWN", False),
    ],
)
def test_what_went_wrong_on_the_way_is_accounted_for_here(problem, code, retryable):
    outcome = call(Failing(problem))
    assert outcome.body["error"]["code"] == code
    assert outcome.body["error"]["details"]["retryable"] is retryable
    assert outcome.audit["correlation_id"] == "c0ffee"
    assert outcome.audit["in_hash"] == call(Handlers()).audit["in_hash"]


def test_a_broken_function_leaks_nothing_and_names_the_call():
    outcome = call(Failing(FunctionBroke("Runtime.ExitError")))
    assert outcome.text.count("c0ffee") == 1
    assert "ExitError" not in outcome.text


EVERY = tuple(f"{module}=f-{module}" for module in {each.lambda_module for each in TOOLS.values()})


def test_every_module_of_tools_must_have_a_function():
    with pytest.raises(Misconfigured, match="BIO_MCP_FUNCTIONS names no function for"):
        invoking(Settings(functions=EVERY[1:]), Handlers)


def test_a_snapshot_is_made_with_the_clients_that_every_tool_takes():
    functions = Handlers()
    invoking(Settings(functions=EVERY), lambda: functions)
    assert functions.prepared == []
    invoking(Settings(functions=EVERY, initialization="snap-start"), lambda: functions)
    assert {each.timeout for each in TOOLS.values()} <= set(functions.prepared)
