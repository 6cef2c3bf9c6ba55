"""Two thousand requests that no client should send to the HTTP door: none is our error, and it goes on serving."""

import json
import logging
import random
import socket
import threading
from contextlib import contextmanager, suppress
from functools import partial
from urllib.parse import urlencode

import httpx
import pytest

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.auth import server as site
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.sessions import Sessions, SignedIn
from bio_mcp.doors.console import people
from bio_mcp.doors.console.routes import routes
from bio_mcp.doors.local import Server
from bio_mcp.doors.mcp.http import application
from bio_mcp.doors.readiness import parts_of
from bio_mcp.doors.running import in_process
from bio_mcp.errors import InvalidInput
from bio_mcp.settings import Settings
from tests.all.fuzzing.conftest import told
from tests.all.fuzzing.values import STRINGS, arguments, hostile, spoiled
from tests.doors.auth.minting import RESOURCE, SECRET, hs256
from tests.doors.wire import ACCEPT, HANDSHAKES, MODERN
from tests.support.examples import EXAMPLES

EACH = 400  # requests of a kind to a server
LARGEST = 2_000_000
METHODS = (
    "tools/call", "tools/list", "resources/read", "resources/list", "resources/templates/list", "initialize", "ping",
    "server/discover", "notifications/initialized", "notifications/cancelled", "logging/setLevel",
    "completion/complete", "prompts/get", "prompts/list", "skills/get", "skills/list",
    "sampling/createMessage", "tasks/get", "subscriptions/listen",
    "tools/", "__init__", "",
)  # fmt: skip
LOCKED = {"MCP_AUTH_SECRET_KEY": SECRET, "MCP_RESOURCE_URL": RESOURCE, "MCP_CALLS_PER_MINUTE": "0"}
PATHS = (
    "/mcp", "/mcp/", "/", "/?q=", "/health", "/ready", "/.well-known/oauth-protected-resource", "/sign-in", "/papers/1",
    "/.well-known/oauth-authorization-server", "/.well-known/mcp/server-card.json", "/papers/", "/static/",
    "/admin/connect", "/admin/people", "/admin/people?subject=",
    "/admin/corpora", "/admin/syncs", "/admin/evaluation", "/library", "/library/", "/graph?q=",
    "/answers/", "/cite?pmid=", "/authorize?client_id=", "/authorize?redirect_uri=",
    "/sign-in?code=", "/sign-in?next=", "/static/../../../../etc/passwd", "/static/%2e%2e%2fpages.py",
)  # fmt: skip
FORMS = {
    "/answers": {"q": "lung cancer"},
    "/references": {"references": "Smith J. A title. 2020."},
    "/sign-in": {"code": "x", "next": "/"},
    "/sign-out": {"csrf": "x"},
    "/admin/people": {"do": "invite", "name": "x", "scope": "read", "days": "7"},
    "/authorize": {"client_id": "x", "redirect_uri": "http://127.0.0.1:1/", "response_type": "code", "state": "x"},
    "/consent": {"csrf": "x", "decision": "allow"},
    "/token": {"grant_type": "authorization_code", "code": "x", "code_verifier": "y" * 43, "client_id": "x"},
    "/register": {"redirect_uris": "http://127.0.0.1:1/", "client_name": "x"},
    "/revoke": {"token": "x", "client_id": "x"},
}


@contextmanager
def serving(app):
    """The product's own server on a free port; its port."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        server = Server(app, lambda: None)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        try:
            yield opened.getsockname()[1]
        finally:
            server.stop()
            thread.join()


@pytest.fixture(scope="module", params=["open", "locked"])
def port(request, corpus):
    """A server as `bio-mcp serve` makes it: for this machine without tokens, or for everybody, who may sign in."""
    locked = request.param == "locked"
    settings = Settings.from_env(LOCKED if locked else {})
    allowed, invoke = access(settings), in_process(corpus)
    sessions = Sessions(lambda: corpus.authorizations, https=locked)
    pages = [
        *site.routes(allowed, sessions, lambda: corpus.authorizations, nothing_published),
        *people.routes(allowed, sessions, lambda: corpus.authorizations, lambda: corpus.limits),
        *routes(invoke, partial(SignedIn, access=allowed, sessions=sessions), resource=settings.resource_url),
    ]
    with serving(application(settings, invoke, allowed, public=locked, pages=pages, parts=parts_of(corpus))) as port:
        yield port


def nothing_published(_address):
    """Stands in for the network, to which no test goes."""
    raise InvalidInput("there is no document")


@pytest.fixture(autouse=True)
def no_errors_logged(caplog):
    """Nothing that is our fault is logged: what a request breaks may be answered as if it were the request's."""
    yield
    ours = [each for each in caplog.get_records("call") if each.levelno >= logging.ERROR]
    assert [each.getMessage() for each in ours if "ClientDisconnect" not in (each.exc_text or "")] == []


@pytest.fixture(scope="module")
def token():
    return hs256(sub="mallory", audience=RESOURCE)


def headers(rng, token, message):
    """The headers of a request, sometimes spoiled."""
    version = rng.choice((*HANDSHAKES, MODERN, MODERN))
    sent = {"accept": ACCEPT, "content-type": "application/json", "mcp-protocol-version": version}
    if rng.random() < 0.8:
        sent["authorization"] = f"Bearer {token}"
    if version == MODERN and isinstance(message, dict):
        sent["mcp-method"] = str(message.get("method"))
    names = (*sent, "host", "origin", "mcp-name", "mcp-session-id", "x-forwarded-host", "traceparent", "cookie")
    for _ in range(rng.choice((0, 0, 1, 2))):
        sent[rng.choice(names)] = rng.choice(STRINGS)
    encoded = {name: value.encode("utf-8", "replace")[:4_000] for name, value in sent.items()}
    return {name: bytes(each for each in value if 32 <= each != 127).strip() for name, value in encoded.items()}


def message(rng):
    """A JSON-RPC message: a call with arguments that may be spoiled, in an envelope that may be."""
    name = rng.choice(sorted(TOOLS))
    uri = rng.choice(sorted(RESOURCES)).replace("{pmid}", rng.choice(STRINGS)).replace("{id}", rng.choice(STRINGS))
    params = {"name": TOOLS[name].portable_name, "uri": uri, "_meta": meta(rng)}
    params["arguments"] = arguments(rng, EXAMPLES[name], TOOLS[name].input_schema)
    method = "tools/call" if rng.random() < 0.5 else rng.choice(METHODS)
    made = {"jsonrpc": "2.0", "id": rng.randrange(1_000), "method": method, "params": params}
    for _ in range(rng.choice((0, 0, 1, 2))):
        made = spoiled(rng, made)
    return made if rng.random() < 0.95 else [made] * rng.choice((0, 2, 20))


def meta(rng):
    given = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    if rng.random() < 0.2:
        given[rng.choice(("progressToken", "traceparent", "tracestate", "baggage"))] = hostile(rng)
    return given


def body(rng):
    """The bytes of a request: mostly JSON, sometimes cut, changed or not JSON at all."""
    sent = json.dumps(message(rng)).encode()
    kind = rng.random()
    if kind < 0.8:
        return sent
    if kind < 0.9:
        at = rng.randrange(len(sent))
        return sent[:at] + rng.randbytes(rng.choice((0, 1, 8))) + sent[at + rng.choice((0, 1, len(sent))) :]
    return rng.choice(
        (b"", b"\xff\xfe", b"[" * 50_000, b'{"a":' * 5_000, rng.randbytes(500), b"1e999999", b"NaN", b"{}")
    )


def check(corpus, answer, sent):
    assert answer.status_code < 500, (sent, answer.text[:500])
    assert told(corpus, answer.text) == [], (sent, answer.text[:500])
    assert '"UNKNOWN"' not in answer.text, (sent, answer.text[:500])
    assert len(answer.content) < LARGEST, sent
    spoken = {name: value for name, value in answer.headers.items() if "evil" in value or "\x1b" in value}
    assert spoken == {}, sent


def works(port, token):
    """The server answers, and finds a paper."""
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    sent["params"] = {"name": "rag_search", "arguments": {"query": "lung cancer"}}
    given = {"accept": ACCEPT, "authorization": f"Bearer {token}", "mcp-protocol-version": HANDSHAKES[-1]}
    asked = httpx.post(f"http://127.0.0.1:{port}/mcp", json=sent, headers=given, timeout=30)
    return asked.json()["result"]["structuredContent"]["results"]


def test_no_message_breaks_the_endpoint(corpus, port, token):
    rng = random.Random("messages")  # noqa: S311  the same ones each time
    answered = 0
    with httpx.Client(timeout=30) as client:
        for _ in range(EACH * 2):
            sent = body(rng)
            given = headers(rng, token, None)
            answer = client.post(f"http://127.0.0.1:{port}/mcp", content=sent, headers=given)
            check(corpus, answer, (sent[:500], given))
            answered += answer.status_code == 200
    assert answered > EACH / 4, "hardly a message got past the checks of its form"
    assert works(port, token)


def test_no_request_line_breaks_a_page(corpus, port, token):
    rng = random.Random("pages")  # noqa: S311
    for _ in range(EACH):
        path = rng.choice(PATHS) + rng.choice(("", "", "/", "/..", "?x=", "/%2e%2e/", "?tools=", "?names=", "/%00"))
        method = rng.choice(("GET", "GET", "GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH", "TRACE"))
        line = f"{method} {path}{rng.choice(('', rng.choice(STRINGS)[:200]))}".encode("utf-8", "replace")
        given = {"host": b"localhost", **headers(rng, token, None), "connection": b"close"}
        lines = [line.replace(b"\n", b"?") + b" HTTP/1.1", *(b"%s: %s" % (k.encode(), v) for k, v in given.items())]
        check_bytes(corpus, exchanged(port, b"\r\n".join(lines) + b"\r\n\r\n"), lines)
    assert works(port, token)


def test_no_form_breaks_a_page(corpus, port, token):
    rng = random.Random("forms")  # noqa: S311
    with httpx.Client(timeout=30, follow_redirects=False) as client:
        for _ in range(EACH):
            path, fields = rng.choice(list(FORMS.items()))
            given, sent = headers(rng, token, None), dict(fields)
            for _ in range(rng.choice((0, 1, 2))):
                sent[rng.choice([*sent, "csrf", "next", "resource", "scope"])] = rng.choice(STRINGS)[:2_000]
            kind = rng.choice(
                ("application/x-www-form-urlencoded", "application/json", "multipart/form-data", "text/x")
            )
            form = urlencode(sent, errors="replace") if "form-urlencoded" in kind else json.dumps(sent)
            given["content-type"] = kind.encode()
            answer = client.post(f"http://127.0.0.1:{port}{path}", content=form.encode(), headers=given)
            check(corpus, answer, (path, sent, given))
            assert "evil.example" not in answer.headers.get("location", ""), (path, sent)
    assert works(port, token)


def check_bytes(corpus, answer, sent):
    assert not answer.startswith(b"HTTP/1.1 5"), (sent, answer[:500])
    assert told(corpus, answer.decode("utf-8", "replace")) == [], (sent, answer[:500])
    head = answer.partition(b"\r\n\r\n")[0].lower()
    assert b"evil.example" not in head, (sent, head)
    assert b"set-cookie: a=b" not in head, (sent, head)


RAW = (
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET / HTTP/1.1\nHost: localhost\n\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
)


def test_no_bytes_break_the_server(corpus, port, token):
    rng = random.Random("bytes")  # noqa: S311
    for _ in range(EACH // 4):
        sent = bytearray(rng.choice(RAW))
        for _ in range(rng.choice((0, 0, 1, 3))):
            sent[rng.randrange(len(sent))] = rng.randrange(256)
        check_bytes(corpus, exchanged(port, bytes(sent)), bytes(sent)[:300])
    assert works(port, token)


def exchanged(port, sent):
    """What the server answers, with nothing more to come from here."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        answer = b""
        try:
            connection.sendall(sent)
            with suppress(OSError):  # ENOTCONN, where the server closed first
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65_536):
                answer += piece
        except ConnectionError:
            pass
        return answer
