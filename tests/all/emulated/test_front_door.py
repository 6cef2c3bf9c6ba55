"""The deployed front door, by the official MCP client over HTTP."""

import asyncio

import httpx
import jwt
import pytest
from mcp.client import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp_types import PromptReference

from tests.emulated.stack import ANSWER_S, until

pytestmark = pytest.mark.timeout(240)
ERAS = ["2026-07-28", "legacy"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPT = {"accept": "application/json, text/event-stream"}


def asked(stack, era, ask):

    async def run():
        async with (
            create_mcp_http_client(headers={"authorization": f"Bearer {stack.token()}"}) as http,
            Client(streamable_http_client(stack.mcp_url, http_client=http), mode=era) as client,
        ):
            return await ask(client)

    return asyncio.run(run())


def called(stack, era, tool, **arguments):
    result = asked(stack, era, lambda client: client.call_tool(tool, arguments))
    assert not result.is_error, result.content
    return result.structured_content


@pytest.mark.parametrize("era", ERAS)
def test_skills_prompts_and_completions_are_there(up, paper, era):
    async def ask(client):
        skill = await client.read_resource("skill://keep-topic-current/SKILL.md")
        prompt = await client.get_prompt("what_is_new", {"query_key": "front-door"})
        typed = {"name": "query_key", "value": "front"}
        return skill, prompt, await client.complete(PromptReference(name="what_is_new"), typed)

    skill, prompt, completed = asked(up.stack, era, ask)
    assert skill.contents[0].text.startswith("---\nname: keep-topic-current\n")
    assert prompt.messages[0].content.text.startswith("Query key: front-door\n")
    assert "front-door" in completed.completion.values


@pytest.fixture(scope="module")
def paper(up):
    pmid = "17727691"
    asked = {"query_key": "front-door", "term": f"{pmid}[uid]"}
    report = up.stack.invoke("sync_delta", {"tool": "pubmed.sync_delta", "arguments": asked})
    assert report["state"] == "complete", report
    return f"pmid:{pmid}"


@pytest.mark.parametrize("era", ERAS)
def test_a_client_with_a_token_finds_the_paper_that_a_sync_brought(up, paper, era):
    whole = called(up.stack, era, "rag_get", doc_id=paper)
    found = called(up.stack, era, "rag_search", query=whole["title"], top_k=3)
    assert found["results"][0]["doc_id"] == paper


@pytest.mark.parametrize("era", ERAS)
def test_every_function_behind_the_door_answers(up, paper, era):
    assert called(up.stack, era, "corpus_checkpoint_get", query_key="front-door")["last_edat"]
    report = called(up.stack, era, "pubmed_sync_delta", query_key="front-door", term=f"{paper[5:]}[uid]")
    assert report["state"] == "complete"
    resource = asked(up.stack, era, lambda client: client.read_resource(f"paper://pmid/{paper[5:]}"))
    assert paper[5:] in resource.contents[0].text


def answers(up, **headers):
    return httpx.post(up.stack.mcp_url, json=INITIALIZE, headers={**ACCEPT, **headers}, timeout=ANSWER_S)


def test_without_a_token_the_answer_is_401_and_says_where_tokens_come_from(up):
    refused = answers(up)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert "result" not in refused.text


def test_an_expired_token_is_refused(up):
    assert answers(up, authorization=f"Bearer {up.stack.token(-3_600)}").status_code == 401


def test_a_rotated_secret_is_taken_up_without_a_deployment(up):
    """New tokens are signed by the new value, and those of the value before go on for a while."""
    old = up.stack.token()
    secret = "the value after the rotation, long enough"
    up.stack.client("secretsmanager").put_secret_value(SecretId=up.auth_secret, SecretString=secret)
    claims = jwt.decode(old, options={"verify_signature": False})
    new = f"Bearer {jwt.encode(claims, secret, 'HS256')}"
    until(lambda: answers(up, authorization=new).status_code == 200, 90, "answer to a token of the new secret")
    assert answers(up, authorization=f"Bearer {old}").status_code == 200
