"""The front door's Lambda handler, as its environment configures it, and the events that reach it."""

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bio_mcp import wiring
from bio_mcp.doors.aws.mcp_function import http_handler
from tests.doors.auth.minting import RESOURCE
from tests.doors.conftest import NO_BACKENDS
from tests.doors.lambda_bridge import context, event, in_a_thread_with_a_loop

LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
SENT = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")]
HOST = "mcp.example.org"


def http_api(method, path, headers, body):
    """An HTTP API's event; repeated headers come joined by a comma."""
    return event(method, path, "", headers, body)


def function_url(method, path, headers, body):
    """A Function URL's: the same format, with another domain and without a route."""
    made = event(method, path, "", headers, body)
    made["requestContext"] |= {"apiId": "abc", "domainPrefix": "abc", "authorizer": None}
    return made


def rest_api(method, path, headers, body):
    """A REST API's, format 1.0: repeated headers come as lists."""
    every: dict[str, list[str]] = {}
    for name, value in headers:
        every.setdefault(name.title(), []).append(value)
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": {name: values[-1] for name, values in every.items()},
        "multiValueHeaders": every,
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {"httpMethod": method, "path": path, "identity": {"sourceIp": "192.0.2.1"}, "stage": "x"},
        "body": body.decode() or None,
        "isBase64Encoded": False,
    }


SHAPES = {each.__name__: each for each in (http_api, function_url, rest_api)}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Door:
    """The handler in an execution environment of its own; `door(...)` sends one request through it."""

    def __init__(self, environment, handler):
        self._environment, self._handler = environment, handler

    def __call__(
        self, *authorization, method="POST", path="/mcp", shape=http_api, host=HOST, body=LIST, query="", **headers
    ):
        sent = [("host", host), *SENT, *headers.items(), *(("authorization", each) for each in authorization)]
        made = shape(method, path, sent, body if method == "POST" else b"")
        made |= {"rawQueryString": query} if query else {}
        answer = self._environment.submit(self._handler, made, context()).result()
        return Answer(answer["statusCode"], answer["headers"], answer["body"])


@contextmanager
def door(backends=lambda: NO_BACKENDS, functions=wiring.functions, make=http_handler, **configured):
    """The front door, or the handler that `make` makes, under these variables and no other `MCP_` ones."""
    with pytest.MonkeyPatch.context() as environment, in_a_thread_with_a_loop() as thread:
        for name in [each for each in os.environ if each.startswith("MCP_")]:
            environment.delenv(name)
        for name, value in {"MCP_RESOURCE_URL": RESOURCE, **configured}.items():
            environment.setenv(name, value)
        yield Door(thread, thread.submit(make, backends, functions).result())


def bearer(token):
    return f"Bearer {token}"
