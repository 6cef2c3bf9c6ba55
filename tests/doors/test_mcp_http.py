"""The sample tools over real HTTP, by the official client in both protocol eras."""

import base64
import json
from dataclasses import replace

import anyio
import anyio.to_thread
import pytest
from mangum import Mangum
from mcp import MCPError
from mcp.client import Client

from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.running import THREADS, in_process
from bio_mcp.errors import Misconfigured
from bio_mcp.tool import resources_in, tools_in
from tests.doors import sample
from tests.doors.auth.handlers import rest_api
from tests.doors.conftest import NO_BACKENDS
from tests.doors.lambda_bridge import context, in_a_thread_with_a_loop
from tests.doors.sample import Stalled
from tests.doors.wire import ACCEPT

pytestmark = pytest.mark.anyio
ERAS = ["2026-07-28", "legacy"]


@pytest.fixture(params=ERAS)
def era(request):
    return request.param


@pytest.fixture
async def client(url, era):
    async with Client(url, mode=era) as connected:
        yield connected


async def test_the_official_client_lists_portable_names_with_the_contracts_in_title_and_meta(client):
    tools = (await client.list_tools()).tools
    dotted = [f"sample.{each}" for each in ("echo", "fail", "walk", "wait", "stall")]
    assert [each.name for each in tools] == [*(each.replace(".", "_") for each in dotted), "kept"]
    assert [each.title for each in tools] == [*dotted, None]
    assert tools[0].meta["io.github.bio-mcp/name"] == "sample.echo"


async def test_annotations_say_what_a_tool_may_do(client):
    echo, fail = (await client.list_tools()).tools[:2]
    assert echo.annotations.model_dump(exclude_none=True) == {"read_only_hint": True, "open_world_hint": False}
    assert fail.annotations.destructive_hint
    assert fail.annotations.open_world_hint is None  # MCP's default is true


async def test_the_query_of_the_endpoint_lists_contract_names(url, era):
    async with Client(f"{url}?names=contract", mode=era) as client:
        assert (await client.list_tools()).tools[0].name == "sample.echo"


async def test_a_tool_that_is_not_listed_can_be_called(url, era):
    async with Client(f"{url}?tools=default", mode=era) as client:
        assert [each.name for each in (await client.list_tools()).tools] == ["sample_echo"]
        assert not (await client.call_tool("kept", {"text": "x"})).is_error


async def test_an_unknown_family_in_the_query_is_answered_with_the_families(url, era):
    async with Client(f"{url}?tools=nonsense", mode=era) as client:
        with pytest.raises(
            MCPError, match="no tool or family 'nonsense'; tools takes default, all, plain, audited, and"
        ):
            await client.list_tools()


@pytest.mark.parametrize("name", ["sample.echo", "sample_echo"])
async def test_a_call_takes_either_name_and_its_text_is_its_structured_content(client, name):
    result = await client.call_tool(name, {"text": "m² über TNF-α", "times": 2})
    assert not result.is_error
    assert result.structured_content == {"texts": ["m² über TNF-α"] * 2, "nothing": None}
    assert json.loads(result.content[0].text) == result.structured_content


@pytest.mark.parametrize("name", ["kept", "tool.kept", "tool_kept"])
async def test_a_familys_prefix_is_accepted(client, name):
    result = await client.call_tool(name, {"text": "x"})
    assert set(result.structured_content["audit"]) == {"in_hash", "out_hash", "latency_ms", "seed", "status"}


async def test_meta_carries_the_audit_record(client):
    audit = (await client.call_tool("sample_echo", {"text": "x"})).meta["io.github.bio-mcp/audit"]
    assert audit["in_hash"] == "fcd1ccec08db6f78a81fee6c26da9e6b8d0d3ba58b4403713fffebcfaa6cf119"
    assert int(audit["seed_text"]) == int(audit["in_hash"][:16], 16)
    assert audit["status"] == "ok"
    assert audit["latency_ms"] >= 0
    assert len(audit["correlation_id"]) == 32


async def test_a_failure_is_a_result_that_says_what_to_do(client):
    result = await client.call_tool("sample_fail", {})
    assert result.is_error
    assert result.structured_content["error"] == {
        "code": "STORE",
        "message": "the store is locked; try again",
        "details": {"retryable": True, "table": "documents", "retry_after_s": 2},
    }
    assert json.loads(result.content[0].text) == result.structured_content


async def test_a_bug_leaks_nothing(client):
    result = await client.call_tool("sample_fail", {"how": "bug"})
    assert result.structured_content["error"]["code"] == "UNKNOWN"
    assert "secret" not in result.content[0].text
    assert result.meta["io.github.bio-mcp/audit"]["correlation_id"] in result.content[0].text


async def test_an_unknown_tool_is_answered_with_the_tools(client):
    with pytest.raises(MCPError, match=r"Unknown tool: sample_ecko\. Available tools: sample_echo, sample_fail"):
        await client.call_tool("sample_ecko", {})


async def test_resources_are_listed_and_read(client):
    assert (await client.list_resources()).resources[0].uri == "sample://info"
    templates = (await client.list_resource_templates()).resource_templates
    result = await client.read_resource("sample://paper/7")
    assert [each.uri_template for each in templates] == ["sample://paper/{pmid}"]
    assert json.loads(result.contents[0].text) == {"pmid": "7", "abstract": None}
    assert result.contents[0].mime_type == "application/json"
    assert result.meta["io.github.bio-mcp/audit"]["status"] == "ok"


def sample_server(**listed):
    return mcp_server.server(
        tools_in(sample).values(), resources_in(sample).values(), in_process(NO_BACKENDS), **listed
    )


async def test_a_server_that_is_to_list_what_does_not_exist_is_not_made():
    with pytest.raises(Misconfigured, match="takes"):
        sample_server(listed=["nonsense"])


def balancer_event(body):
    """An application load balancer's, its body in base64 as it sends what it does not know to be text."""
    headers = [("host", "localhost"), ("content-type", "application/json"), ("accept", ACCEPT)]
    event = rest_api("POST", "/mcp", headers, base64.b64encode(body.encode()))
    kept = ("path", "httpMethod", "headers", "body")
    asked = {"queryStringParameters": {"names": "contract"}, "requestContext": {"elb": {}}, "isBase64Encoded": True}
    return {**{name: event[name] for name in kept}, **asked}


def test_the_lambda_handler_reads_the_events_of_a_load_balancer():
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})

    def ask():
        handler = Mangum(mcp_http.serving(sample_server()), lifespan="off")
        return [handler(balancer_event(body), context()) for _ in range(2)]

    with in_a_thread_with_a_loop() as environment:
        answers = environment.submit(ask).result()
    for answer in answers:
        assert answer["statusCode"] == 200
        assert json.loads(answer["body"])["result"]["tools"][0]["name"] == "sample.echo"


@pytest.mark.parametrize("open_world", [True, False])
async def test_a_slow_call_never_holds_up_a_quick_one_whether_it_waits_for_others_or_works(open_world):
    Stalled.over.clear()
    tools = [sample.echo, replace(sample.stall, open_world=open_world)]
    served = mcp_server.server(tools, [], in_process(NO_BACKENDS))
    async with Client(served) as client, anyio.create_task_group() as calls:
        for _ in range(THREADS + 5):
            calls.start_soon(client.call_tool, "sample_stall", {})
        for _ in range(THREADS):
            await anyio.to_thread.run_sync(Stalled.begun.acquire)
        echoed = await client.call_tool("sample_echo", {"text": "x"})
        Stalled.over.set()
    assert echoed.structured_content["texts"] == ["x"]
