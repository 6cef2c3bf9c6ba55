"""The front door's handler where functions of their own run the tools: it calls them, and reaches for nothing else."""

import io
import json
import logging
import re

import jwt
import pytest

from bio_mcp.catalog import RESOURCES, TOOLS
from tests.doors.auth.handlers import bearer, door
from tests.doors.auth.minting import SECRET, hs256
from tests.doors.lambda_bridge import context

MODULES = sorted({each.lambda_module for each in (*TOOLS.values(), *RESOURCES.values())})
NAMED = ",".join(f"{module}=arn:aws:lambda:us-east-1:000000000000:function:bio-{module}" for module in MODULES)
UNCHECKED = {"verify_signature": False}
LOCKED = {"MCP_AUTH_SECRET_KEY": SECRET, "MCP_AUTH_AUDIENCE": "bio-mcp"}
FOUND = {"results": [], "status": "complete", "reasons": [], "warnings": []}
BODY = {"queries": [{"query_key": "statins"}], "left_out": 0, **FOUND}


class Functions:
    """Answers every event alike, and keeps them."""

    def __init__(self):
        self.invoked, self.prepared = [], []

    def invoke(self, function, event, _deadline, *, repeatable):
        self.invoked.append((function, event, repeatable))
        return {"body": BODY, "audit": {"status": "ok", "correlation_id": event["correlation_id"]}}

    def prepare(self, patience_s):
        self.prepared.append(patience_s)


def no_backends():
    raise AssertionError("the front door has no data of its own")


@pytest.fixture(scope="module")
def functions():
    return Functions()


@pytest.fixture(scope="module")
def opened(functions):
    with door(no_backends, lambda: functions, BIO_MCP_FUNCTIONS=NAMED, **LOCKED) as made:
        yield made


def posted(opened, method, **params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return opened(bearer(hs256()), body=body).json["result"]


def test_a_tool_is_called_in_the_function_of_its_module(opened, functions):
    functions.invoked.clear()
    result = posted(opened, "tools/call", name="rag_search", arguments={"query": "migraine"})
    assert result["structuredContent"] == json.loads(result["content"][0]["text"]) == BODY
    [(function, event, repeatable)] = functions.invoked
    assert function == "arn:aws:lambda:us-east-1:000000000000:function:bio-search"
    assert (event["tool"], event["arguments"], event["outcome"]) == ("rag.search", {"query": "migraine"}, True)
    assert repeatable
    assert result["_meta"]["io.github.bio-mcp/audit"]["correlation_id"] == event["correlation_id"]


def test_the_function_is_told_for_whom_it_works(opened, functions):
    functions.invoked.clear()
    posted(opened, "tools/call", name="rag_search", arguments={"query": "migraine"})
    posted(opened, "resources/read", uri="resource://pubmed/paper/7")
    assert [event["caller"]["subject"] for _, event, _ in functions.invoked] == [
        jwt.decode(hs256(), options=UNCHECKED)["sub"]
    ] * 2


def test_a_line_of_the_log_has_the_access_logs_request_id_and_a_time_that_lambda_reads(opened):
    written = io.StringIO()
    handlers = [each for each in logging.getLogger("bio_mcp").handlers if isinstance(each, logging.StreamHandler)]
    before = [(each, each.setStream(written)) for each in handlers]
    posted(opened, "tools/call", name="rag_search", arguments={"query": "migraine"})
    for handler, stream in before:
        handler.setStream(stream)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    [line] = [each for each in lines if each["message"] == "invoked"]
    assert (line["gateway_request_id"], line["function_request_id"]) == ("bridge", context().aws_request_id)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d", line["timestamp"])


def test_a_resource_is_read_in_the_function_of_its_module(opened, functions):
    functions.invoked.clear()
    result = posted(opened, "resources/read", uri="resource://pubmed/paper/7")
    assert json.loads(result["contents"][0]["text"]) == BODY
    [(function, event, _)] = functions.invoked
    assert function.endswith(":bio-get_doc")
    assert event["resource"] == "resource://pubmed/paper/7"


def test_an_argument_is_completed_by_the_function_of_the_tool_that_lists_its_values(opened, functions):
    functions.invoked.clear()
    asked = {"name": "query_key", "value": "stat"}
    params = {"ref": {"type": "ref/prompt", "name": "what_is_new"}, "argument": asked}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "completion/complete", "params": params}).encode()
    answer = opened(bearer(hs256()), body=body).json
    [(function, event, repeatable)] = functions.invoked
    assert function.endswith(":bio-checkpoint")
    assert (event["tool"], event["arguments"], repeatable) == ("corpus.queries", {"starts_with": "stat"}, True)
    assert event["caller"]["subject"] == jwt.decode(hs256(), options=UNCHECKED)["sub"]
    assert answer["result"]["completion"] == {"values": ["statins"], "hasMore": False}


def test_lists_prompts_and_skills_are_had_without_a_function(opened, functions):
    functions.invoked.clear()
    assert len(posted(opened, "tools/list")["tools"]) == len([each for each in TOOLS.values() if each.in_default_list])
    assert posted(opened, "prompts/list")["prompts"]
    assert posted(opened, "prompts/get", name="what_is_new", arguments={"query_key": "x"})["messages"]
    [*_, skill] = posted(opened, "skills/list")["skills"]
    assert posted(opened, "resources/read", uri=skill["uri"])["contents"][0]["text"].startswith("---\nname: ")
    assert functions.invoked == []


def test_nobody_without_a_token_reaches_a_function(opened, functions):
    functions.invoked.clear()
    assert opened().status == 401
    assert functions.invoked == []


def test_a_snapshot_is_made_with_clients_and_without_a_call():
    made = Functions()
    start = {"AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start", "BIO_MCP_FUNCTIONS": NAMED}
    with door(no_backends, lambda: made, **start, **LOCKED):
        assert made.prepared
        assert made.invoked == []
