"""A client connects to the deployed stack by its address alone, with a person who was invited."""

import re
from html import unescape

import httpx
import pytest

from tests.doors.auth.server.team import BACK, FIELD, Asking
from tests.emulated.stack import ANSWER_S

pytestmark = pytest.mark.timeout(240)


class Gateway:
    """What `Asking` asks: the stack's API, by a path that needs no name of a host to be resolved."""

    def __init__(self, stack):
        self.base = stack.mcp_url.removesuffix("/mcp")

    def browser(self, **headers):
        return httpx.Client(base_url=self.base, headers={"sec-fetch-site": "same-origin", **headers}, timeout=ANSWER_S)


class Connecting(Asking):
    """A client of the stack, whose endpoint has another address than that of the tests."""

    def __init__(self, stack):
        self.resource = stack.outputs["McpUrl"]
        super().__init__(Gateway(stack))

    def request(self, **changed):
        return super().request(resource=self.resource, **changed)

    def exchange(self, code, **changed):
        return super().exchange(code, resource=self.resource, **changed)


@pytest.fixture(scope="module")
def ann(up):
    link = up.stack.command("admin", "invite", "--subject", "ann", "--scopes", "read")["link"]
    gateway = Gateway(up.stack)
    path = "/sign-in" + link.partition("/sign-in")[2]
    with gateway.browser() as browser:
        page = browser.get(path)
        form = {name: unescape(value) for name, value in FIELD.findall(page.text)}
        signed_in = browser.post("/sign-in", data=form)
    assert signed_in.status_code == 303, signed_in.text
    cookie = re.match(r"__Host-bio-mcp=[^;]+", signed_in.headers["set-cookie"])[0]
    with gateway.browser(cookie=cookie) as browser:
        yield browser


@pytest.fixture(scope="module")
def client(up):
    made = Connecting(up.stack)
    yield made
    made.browser.close()


def listed(up, token):
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"accept": "application/json, text/event-stream", "authorization": f"Bearer {token}"}
    answer = httpx.post(up.stack.mcp_url, json=asked, headers=headers, timeout=ANSWER_S)
    assert answer.status_code == 200, answer.text
    return {each["name"] for each in answer.json()["result"]["tools"]}


def test_the_endpoint_says_where_tokens_are_had_and_that_server_describes_itself(up):
    base, own = up.stack.mcp_url.removesuffix("/mcp"), up.stack.outputs["McpUrl"].removesuffix("/mcp")
    resource = httpx.get(f"{base}/.well-known/oauth-protected-resource/mcp", timeout=ANSWER_S).json()
    assert [each.rstrip("/") for each in resource["authorization_servers"]] == [own]
    for path in ("", "/mcp"):
        told = httpx.get(f"{base}/.well-known/oauth-authorization-server{path}", timeout=ANSWER_S).json()
        assert told["token_endpoint"] == f"{own}/token"


def test_a_person_allows_a_client_to_read_and_its_token_shows_what_may_be_read(up, ann, client):
    code = client.code(ann, scopes=["read"], scope="read")
    tokens = client.exchange(code).json()
    assert tokens["scope"] == "read"
    names = listed(up, tokens["access_token"])
    assert "rag_search" in names
    assert "pubmed_sync_delta" not in names
    again = client.refresh(tokens["refresh_token"]).json()
    assert listed(up, again["access_token"]) == names


def test_a_code_works_once_and_a_refresh_token_that_is_used_twice_ends_both(up, ann, client):
    code = client.code(ann, scopes=["read"], scope="read")
    tokens = client.exchange(code).json()
    assert client.exchange(code).status_code == 400
    other = client.exchange(client.code(ann, scopes=["read"], scope="read")).json()
    later = client.refresh(other["refresh_token"]).json()
    assert client.refresh(other["refresh_token"]).status_code == 400
    assert client.refresh(later["refresh_token"]).status_code == 400
    assert tokens["access_token"] != other["access_token"]


def test_an_operator_ends_what_is_open_in_somebodys_name(up, ann, client):
    tokens = client.exchange(client.code(ann, scopes=["read"], scope="read")).json()
    assert up.stack.command("admin", "people", "--subject", "ann", "--revoke")["ended"] > 0
    assert client.refresh(tokens["refresh_token"]).status_code == 400
    assert ann.get("/admin/corpora").status_code == 303
    assert BACK not in str(up.stack.log("authorize"))


def test_nothing_of_it_was_an_error(up):
    assert up.stack.errors("authorize") == []
