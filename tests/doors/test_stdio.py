"""The sample tools over standard input and output, in a process of their own; test_catalogue.py has the product."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp_types import PromptReference

ROOT = Path(__file__).parents[2]
PROGRAM = ["-m", "tests.doors.sample_stdio"]
pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def client():
    """A client of one process, which answers all tests."""
    parameters = StdioServerParameters(command=sys.executable, args=PROGRAM, cwd=str(ROOT))
    async with Client(stdio_client(parameters)) as connected:
        yield connected


async def test_prompts_completions_and_skills_are_there(client):
    prompts = [each.name for each in (await client.list_prompts()).prompts]
    filled = await client.get_prompt(prompts[0], {"question": "Does ginger help?"})
    assert filled.messages[0].content.text.startswith("Question: Does ginger help?")
    asked = {"name": "question", "value": "Does"}
    assert (await client.complete(PromptReference(name=prompts[0]), asked)).completion.values == []
    skill = await client.read_resource("skill://answer-clinical-question/SKILL.md")
    assert skill.contents[0].text.startswith("---\nname: answer-clinical-question\n")


async def test_progress_is_sent_as_it_happens(client):
    seen = []

    async def on_progress(done, total, message):
        seen.append((done, total, message))

    await client.call_tool("sample_walk", {"steps": 2}, progress_callback=on_progress)
    assert seen == [(1.0, 2.0, "step 1"), (2.0, 2.0, "step 2")]


async def test_a_call_that_the_client_gives_up_leaves_the_server_answering(client):
    with anyio.move_on_after(0.5):
        await client.call_tool("sample_wait", {})
    assert (await client.call_tool("sample_echo", {"text": "x"})).structured_content["texts"] == ["x"]


def test_only_protocol_is_on_standard_output_and_the_log_is_on_standard_error():
    begun = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"id": 1, "method": "initialize", "params": begun},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "sample_echo", "arguments": {"text": "x"}}},
        {"id": 3, "method": "tools/call", "params": {"name": "sample_fail", "arguments": {"how": "bug"}}},
    ]
    process = subprocess.Popen(
        [sys.executable, *PROGRAM], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for line in lines:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
    process.stdin.write(b"this is not JSON\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(3)]
    rest, log = process.communicate(timeout=30)
    assert {each["id"] for each in answers} == {1, 2, 3}
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert process.returncode == 0
    assert b"a tool must not print" in log
    assert b"KeyError" in log
    assert b"INFO call tool=sample.echo status=ok" in log
