"""A second account reads none of the first one's projects in a thousand attempts, each over MCP."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import pytest

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.running import in_process
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from bio_mcp.tool import Tool
from tests.doors.auth.minting import SECRET as KEY
from tests.doors.auth.minting import hs256
from tests.doors.serving import running
from tests.doors.wire import ACCEPT
from tests.support.sample_corpus import articles
from tests.support.sample_graph import add_graph
from tests.tenants.two_tenants import (
    NORTH,
    OWN,
    SECRET,
    Words,
    add_document_edge,
    attempts,
    furnish,
    guesses,
    state_of,
)

EVERYTHING = "read live sync ingest admin"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with closing(Words(tmp_path_factory.mktemp("tenants"), articles())) as made:
        apply_records(made.articles[:6], made)
        add_graph(made)
        add_document_edge(made)
        made.files = {owner.tenant: furnish(made, owner) for owner in (NORTH, OWN)}
        yield made


@pytest.fixture(scope="module")
def url(corpus):
    declared = [*TOOLS.values(), *RESOURCES.values()]
    server = mcp_server.server(TOOLS.values(), RESOURCES.values(), in_process(corpus))
    opened = access(Settings(auth_secret=KEY, calls_per_minute=0))
    with running(mcp_http.serving(server, access=opened, public=True, declared=declared)) as base:
        yield f"{base}/mcp"


def answered(client, url, what, arguments, token):
    method = "tools/call" if isinstance(what, Tool) else "resources/read"
    params = {"name": what.portable_name, "arguments": arguments} if isinstance(what, Tool) else _read(what, arguments)
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"accept": ACCEPT, "mcp-protocol-version": "2025-11-25", "authorization": f"Bearer {token}"}
    answer = client.post(url, json=body, headers=headers)
    assert answer.status_code == 200, (what.name, arguments)
    return answer.text


def answers(url, tried, token):
    """What each attempt is answered, several at a time."""
    with httpx.Client(verify=False, timeout=60) as client, ThreadPoolExecutor(8) as threads:  # noqa: S501  plain HTTP
        texts = threads.map(lambda each: answered(client, url, *each, token), tried)
        yield from ((what, arguments, text) for (what, arguments), text in zip(tried, texts, strict=True))


def _read(resource, arguments):
    uri = resource.uri
    for name, value in arguments.items():
        uri = uri.replace(f"{{{name}}}", value)
    return {"uri": uri}


@pytest.mark.parametrize("owner", [NORTH, OWN], ids=["of a tenant", "of the installation"])
def test_a_second_account_reads_none_of_the_first_ones_projects_in_a_thousand_attempts(corpus, url, owner):
    before, secret = state_of(corpus, owner), SECRET[owner.tenant]
    tried = list(attempts(guesses(owner, corpus.files[owner.tenant])))[::2]
    assert len(tried) >= 1_000
    token = hs256(sub="bob", tenant="south", scope=EVERYTHING)
    for what, arguments, text in answers(url, tried, token):
        assert secret not in text, (what.name, arguments)
    assert state_of(corpus, owner) == before


def test_the_first_account_reads_them_by_the_same_attempts(corpus, url):
    token = hs256(sub="ann", tenant="north", scope="read")
    tried = [each for each in attempts(["lab", "vault", "newborns"]) if each[0].scope == "read"]
    shown = {what.name for what, _, text in answers(url, tried, token) if SECRET["north"] in text}
    assert shown >= {"query_hybrid", "query", "find_chunks", "inspect_collection", "hybrid_search"}
