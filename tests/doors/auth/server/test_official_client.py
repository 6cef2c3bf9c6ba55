"""The official client connects by the endpoint's address alone, in both eras, as what it publishes or registers."""

from urllib.parse import urlsplit

import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from bio_mcp.callers import Caller
from tests.doors.auth.minting import RESOURCE
from tests.doors.auth.server.team import BACK, DOCUMENT, ORIGIN, hidden, parameters

pytestmark = pytest.mark.anyio


class Memory:
    """What a client remembers."""

    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


def connecting(team, person, memory, document=None, scope=None, allows=(("read", "live"),), address=RESOURCE):
    """The client's OAuth flow, with a person who allows all that it asks, or of each time these scopes."""
    answers, allowed = [], list(allows)

    async def redirected(url):
        parts = urlsplit(url)
        assert f"{parts.scheme}://{parts.netloc}" == ORIGIN
        page = person.get(person.get(f"{parts.path}?{parts.query}").headers["location"])
        form = {**hidden(page), "decision": "allow", "scope": allowed.pop(0) if len(allowed) > 1 else allowed[0]}
        answers.append(parameters(person.post("/consent", data=form)))

    async def returned():
        back = answers.pop()
        return AuthorizationCodeResult(code=back["code"], state=back["state"], iss=back["iss"])

    metadata = OAuthClientMetadata(redirect_uris=[BACK], client_name="Official", scope=scope)
    auth = OAuthClientProvider(address, metadata, memory, redirected, returned, client_metadata_url=document)
    transport = httpx2.ASGITransport(team.app)
    return httpx2.AsyncClient(transport=transport, auth=auth, base_url=ORIGIN)


@pytest.mark.parametrize("document", [None, DOCUMENT], ids=["registered", "described"])
@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
async def test_it_connects_and_calls(team, ann, era, document):
    team.documents[DOCUMENT] = {"client_id": DOCUMENT, "client_name": "Official", "redirect_uris": [BACK]}
    memory = Memory()
    async with (
        connecting(team, ann, memory, document) as http,
        Client(streamable_http_client(RESOURCE, http_client=http), mode=era) as client,
    ):
        echoed = await client.call_tool("sample_echo", {"text": "x"})
        memory.tokens = None
    assert echoed.structured_content["texts"] == ["x"]
    assert memory.client.client_id.startswith(document or "registered.")


@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
async def test_it_asks_for_another_scope_when_a_call_needs_it(team, era):
    bob, memory = team.person(Caller("bob", frozenset({"read", "sync"}))), Memory()
    async with (
        connecting(team, bob, memory, allows=[["read"], ["read", "sync"]]) as http,
        Client(streamable_http_client(RESOURCE, http_client=http), mode=era) as client,
    ):
        listed = {each.name for each in (await client.list_tools()).tools}
        first = memory.tokens.scope
        called = await client.call_tool("sample_fail", {})
    assert (first, "sample_fail" in listed) == ("read", False)
    assert called.structured_content["error"]["code"] == "STORE"  # it got as far as failing
    assert set(memory.tokens.scope.split()) == {"read", "sync"}


async def test_it_connects_to_an_address_that_says_what_to_list(team, ann):
    address = f"{RESOURCE}?tools=default"
    async with (
        connecting(team, ann, Memory(), address=address) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        listed = [each.name for each in (await client.list_tools()).tools]
    assert listed == ["sample_echo"]


async def test_it_goes_on_with_a_refresh_token(team, ann):
    memory = Memory()
    async with connecting(team, ann, memory) as http:
        await http.post(RESOURCE, json={})
    first = memory.tokens
    memory.tokens = first.model_copy(update={"access_token": "x", "expires_in": -1})
    async with connecting(team, ann, memory) as http:
        assert (await http.post(RESOURCE, json={})).status_code != 401
    assert memory.tokens.refresh_token != first.refresh_token
