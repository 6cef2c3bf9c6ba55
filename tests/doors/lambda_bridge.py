"""HTTP in front of a Lambda handler, as an HTTP API with payload format 2.0 puts it: event in, answer out.

One event at a time in one thread, as an execution environment does it. What the Lambda service itself would do to
a request (joining repeated headers, base64 for bodies that are not text) is done here too.
"""

import asyncio
import base64
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


def context(remaining_ms: int = 29_000) -> SimpleNamespace:
    """The parts of Lambda's context object that handlers read."""
    return SimpleNamespace(
        function_name="bio-mcp-test",
        function_version="$LATEST",
        invoked_function_arn="arn:aws:lambda:eu-central-1:000000000000:function:bio-mcp-test",
        memory_limit_in_mb=1024,
        aws_request_id="6b1b9f3e-1111-2222-3333-444455556666",
        get_remaining_time_in_millis=lambda: remaining_ms,
    )


def event(method: str, path: str, query: str, headers: list[tuple[str, str]], body: bytes) -> dict[str, Any]:
    """An HTTP API event, format 2.0."""
    joined: dict[str, str] = {}
    for name, value in headers:
        joined[name.lower()] = f"{joined[name.lower()]},{value}" if name.lower() in joined else value
    made: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": joined,
        "requestContext": {
            "stage": "$default",
            "requestId": "bridge",
            "domainName": joined.get("host", ""),
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": ""},
        },
        "isBase64Encoded": False,
    }
    if body:
        try:
            made["body"] = body.decode()
        except UnicodeDecodeError:
            made |= {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
    return made


@contextmanager
def in_a_thread_with_a_loop() -> Iterator[ThreadPoolExecutor]:
    """One thread with an event loop of its own, as the main thread of an execution environment has."""
    with closing(asyncio.new_event_loop()) as loop, _thread_of(loop) as environment:
        yield environment


def _thread_of(loop: asyncio.AbstractEventLoop) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, initializer=asyncio.set_event_loop, initargs=[loop])


@contextmanager
def bridge(make: Callable[[], Handler]) -> Iterator[Callable[..., Any]]:
    """An ASGI application that hands each request to the handler that `make` makes in the environment's thread."""
    with in_a_thread_with_a_loop() as environment:
        handler = environment.submit(make).result()

        async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
            request = Request(scope, receive)
            sent, where = list(request.headers.items()), request.url
            made = event(request.method, where.path, where.query, sent, await request.body())
            answer = await asyncio.get_running_loop().run_in_executor(environment, handler, made, context())
            body = answer.get("body") or ""
            content = base64.b64decode(body) if answer.get("isBase64Encoded") else body.encode()
            headers = {name: value for name, value in answer.get("headers", {}).items() if name != "content-length"}
            await Response(content, answer["statusCode"], headers)(scope, receive, send)

        yield app
