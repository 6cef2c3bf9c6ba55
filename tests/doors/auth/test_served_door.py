"""`bio-mcp serve` with access tokens, as a process, and the official client that brings one."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.auth.server import REQUESTS_A_MINUTE
from bio_mcp.doors.cli.program import run as run_command
from tests.doors.auth.issuer import publishing
from tests.doors.auth.minting import ISSUER, RESOURCE, SECRET, hs256, jwk, rs256
from tests.doors.wire import ACCEPT, post

PROGRAM = Path(sys.executable).with_name("bio-mcp")
PROMPT = {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1", "MCP_HTTP_WORKERS": "1"}
pytestmark = pytest.mark.anyio


@contextmanager
def serving(home, *options, **configured):
    """`bio-mcp serve` on a free port: where it is reached from here, and the process."""
    command = [PROGRAM, "serve", "--port", "0", *options]
    given = {**PROMPT, "BIO_MCP_HOME": str(home), **configured}
    with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        try:
            message = "".join(started.stdout.readline() for _ in range(3))
            port = re.search(r"http://\S+?:(\d+)/mcp", message)[1]
            yield f"http://127.0.0.1:{port}/mcp", started, message
        finally:
            started.send_signal(signal.SIGTERM)
            started.communicate(timeout=30)


@pytest.fixture(scope="module")
def open_to_all(tmp_path_factory):
    """Reachable from everywhere, locked by a shared secret."""
    home = tmp_path_factory.mktemp("locked")
    with serving(home, "--host", "0.0.0.0", MCP_AUTH_SECRET_KEY=SECRET) as (url, _, message):  # noqa: S104  it is locked
        yield url, message


@pytest.fixture
def url(open_to_all):
    return open_to_all[0]


async def tools_for(url, token, era, answers):
    """What the official client lists and calls with `token`; the status of each answer is added to `answers`."""

    async def note(response):
        answers.append(response.status_code)

    brings = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=brings, timeout=30, event_hooks={"response": [note]}) as http,
        Client(streamable_http_client(f"{url}?tools=all,chatgpt,topics", http_client=http), mode=era) as client,
    ):
        listed = [each.title or each.name for each in (await client.list_tools()).tools]
        state = await client.call_tool("corpus_checkpoint_get", {"query_key": "nothing"})
        return listed, state.structured_content


@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
async def test_the_official_client_is_let_in_with_a_token(url, era):
    listed, state = await tools_for(url, hs256(scope="bio:write"), era, [])
    assert listed == list(TOOLS)
    assert state["last_edat"] is None


async def test_a_token_that_names_no_scope_may_do_all_but_administer(url):
    listed, _ = await tools_for(url, hs256(), "2026-07-28", [])
    assert listed == [name for name, each in TOOLS.items() if each.scope != "admin"]
    assert len(listed) < len(TOOLS)


@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
async def test_the_official_client_is_kept_out_without_a_good_one(url, era):
    answers = []
    with pytest.raises(ExceptionGroup):
        await tools_for(url, hs256(exp=1), era, answers)
    assert set(answers) == {401}


def test_it_says_what_a_client_brings(open_to_all):
    assert '--header "Authorization: Bearer $TOKEN"' in open_to_all[1]
    assert SECRET not in open_to_all[1]


@pytest.mark.parametrize("length", [15_000, 40_000])
def test_a_huge_token_is_refused(url, length):
    assert post(url, "tools/list", authorization=f"Bearer {'x' * length}").status_code in (400, 401, 431)


def test_a_huge_body_without_a_token_is_not_read(url):
    answer = httpx.post(url, content=b"x" * (5_000 * 1024 + 1), headers={"accept": ACCEPT})
    assert answer.status_code == 401


def test_a_tunnel_that_lets_its_callers_name_their_addresses_gives_them_no_more_registrations(tmp_path):
    given = {"MCP_AUTH_SECRET_KEY": SECRET, "MCP_RESOURCE_URL": RESOURCE}
    body = {"redirect_uris": ["https://client.example/back"]}
    with serving(tmp_path, **given) as (url, _, _), httpx.Client(headers={"host": "mcp.example.org"}) as client:
        register = url.removesuffix("/mcp") + "/register"
        answers = [
            client.post(register, json=body, headers={"x-forwarded-for": f"192.0.2.{number % 250}"}).status_code
            for number in range(REQUESTS_A_MINUTE + 40)
        ]
    assert answers.count(429) > 0
    assert answers[0] == 201


def test_an_issuers_tokens_open_it_and_metadata_lead_to_the_issuer(tmp_path):
    given = {"MCP_AUTH_ISSUER": ISSUER, "MCP_RESOURCE_URL": RESOURCE}
    with publishing(jwk()) as keys, serving(tmp_path, MCP_AUTH_JWKS_URL=keys.url, **given) as (url, _, message):
        assert f"claude mcp add --transport http bio-mcp {RESOURCE} " in message
        assert post(url, "tools/list", authorization=f"Bearer {rs256()}", host="mcp.example.org").status_code == 200
        challenge = post(url, "tools/list").headers["www-authenticate"]
        named = re.search(r'resource_metadata="https://mcp.example.org(\S+)"', challenge)[1]
        assert httpx.get(url.removesuffix("/mcp") + named).json()["authorization_servers"] == [ISSUER]


@pytest.mark.parametrize(
    ("configured", "says"),
    [
        ({}, "0.0.0.0 is not a loopback address and there are no access tokens"),
        ({"MCP_AUTH_SECRET_KEY": "too-short-a-secret"}, "takes 32 random bytes or more"),
        ({"MCP_AUTH_ISSUER": ISSUER}, "nothing to check tokens with"),
        ({"MCP_AUTH_SECRET_KEY": SECRET, "MCP_TRUSTED_PROXIES": "*"}, "MCP_TRUSTED_PROXIES holds '*'"),
        ({"MCP_AUTH_SECRET_KEY": SECRET, "MCP_ALLOWED_ORIGINS": "*"}, "MCP_ALLOWED_ORIGINS holds '*'"),
    ],
)
def test_it_does_not_start_open_by_accident(cli, monkeypatch, configured, says):
    given = {"BIO_MCP_HOME": str(cli.home), "MCP_HTTP_HOST": "0.0.0.0", **configured}  # noqa: S104  refused
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert run_command(["serve", "--port", "0"]) == 1
    out, err = cli.capsys.readouterr()
    assert out == ""
    assert says in err
    assert "Traceback" not in err
    logged = (cli.home / "bio-mcp.log").read_text() if (cli.home / "bio-mcp.log").exists() else ""
    assert [each for each in (SECRET, "too-short-a-secret") if each in err + logged] == []
