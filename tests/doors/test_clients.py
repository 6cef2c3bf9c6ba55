"""What clients are sent of an answer: twice the same, unless it is known that they read the structured form."""

import json

import pytest
from mcp import types
from mcp.client import Client

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.mcp.server import IN_STRUCTURED, server
from bio_mcp.doors.running import in_process
from tests.doors.wire import post
from tests.support.memory_corpus import Corpus, article

pytestmark = pytest.mark.anyio
FOREIGN = {"query": "quantum chromodynamics lattice"}
READERS = [("claude-code", "2.1.280"), ("codex-mcp-client", "0.157.0"), ("Visual Studio Code", "1.109.2")]
OTHERS = [
    *[("claude-code", "2.0.10"), ("claude-code", "soon"), ("claude-ai", "0.1.0"), ("codex", "1.0.0")],
    *[
        ("gemini-cli-mcp-client", "0.50.0"),
        ("cursor-vscode", "1.0.0"),
        ("goose-desktop", "1.20.0"),
        ("opencode", "1.2.0"),
    ],
    *[("openai-mcp", "1.0.0"), ("x" * 5_000, "9.9"), ("claude-code/9.9/x", "1.0")],
]


def asked():
    return server(TOOLS.values(), (), in_process(Corpus(article("1", "Aspirin.", "Aspirin eased pain."))))


async def answer_to(name, version, tool="rag_search", mode="auto", **arguments):
    info = types.Implementation(name=name, version=version)
    async with Client(asked(), client_info=info, mode=mode) as client:
        return await client.call_tool(tool, arguments)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
@pytest.mark.parametrize(("name", "version"), READERS)
async def test_one_that_reads_the_structured_form_is_sent_a_line_and_the_warnings(name, version, mode):
    answer = await answer_to(name, version, mode=mode, **FOREIGN)
    warnings = answer.structured_content["warnings"]
    assert warnings
    assert [each.text for each in answer.content] == [IN_STRUCTURED, *warnings]


@pytest.mark.parametrize(("name", "version"), OTHERS)
async def test_another_is_sent_both(name, version):
    [text] = (await answer_to(name, version, **FOREIGN)).content
    assert json.loads(text.text)["warnings"]


@pytest.mark.parametrize(
    ("tool", "arguments"), [("rag_search", {"query": "x", "top_k": 0}), ("search", {"query": "x"})]
)
async def test_an_error_and_what_deep_research_reads_are_whole_in_both_forms(tool, arguments):
    answer = await answer_to(*READERS[0], tool=tool, **arguments)
    assert json.loads(answer.content[0].text) == answer.structured_content


@pytest.mark.parametrize(
    ("agent", "one_line"),
    [("claude-code/2.1.221 (sdk-cli)", True), ("codex-mcp-client/0.157.0", True), ("python-httpx/0.28.1", False)],
)
def test_over_http_without_a_handshake_the_user_agent_says_who_asks(url, agent, one_line):
    call = {"name": "sample.echo", "arguments": {"text": "x"}}
    result = post(url, "tools/call", call, "2025-11-25", **{"user-agent": agent}).json()["result"]
    assert (result["content"][0]["text"] == IN_STRUCTURED) == one_line
    assert result["structuredContent"]
