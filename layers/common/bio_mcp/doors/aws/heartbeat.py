"""A client of the deployed endpoint, on a schedule: it comes from outside, by the address that clients have.

It searches as they do. Where an issuer gives out the tokens it has none: then it looks whether the endpoint refuses it,
and says where tokens are had. Each time that all is well is counted in the metric `Heartbeats`; an alarm rings where
none is.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from aws_lambda_powertools.metrics import MetricUnit
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.aws.tool_function import Handler, log_as_json, recorded
from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.clock import utc_now
from bio_mcp.settings import Settings

log = logging.getLogger("bio_mcp.heartbeat")

HEARTBEAT = Caller("heartbeat", frozenset({"read"}))
LIVES = timedelta(minutes=5)
QUERY = "randomized trial of treatment"
TIME_OUT_S = 50
METADATA = "/.well-known/oauth-protected-resource"


def heartbeat_handler(now: Callable[[], datetime] = utc_now) -> Handler:
    """The handler, which answers how long the endpoint took, in `latency_ms`. Whatever is wrong with the endpoint is
    raised, and so an error of the function."""
    settings = Settings.from_env()
    logger = log_as_json(settings.log_level)

    @logger.inject_lambda_context
    def handler(event: Any, context: Any) -> dict[str, Any]:  # noqa: ARG001  as Lambda calls it
        url = settings.heartbeat_url or settings.resource_url
        started = time.perf_counter()
        allowed = access(settings)
        token = allowed.issue(HEARTBEAT, LIVES, now())[0] if allowed and allowed.signs_tokens else ""
        anyio.run(_beat, url, token)
        latency_ms = round((time.perf_counter() - started) * 1000)
        if settings.metrics:
            times = {"Heartbeats": (MetricUnit.Count, 1.0), "HeartbeatLatency": (MetricUnit.Milliseconds, latency_ms)}
            recorded(settings.metrics, **times)
        log.info("heartbeat", extra={"latency_ms": latency_ms})
        return {"status": "ok", "latency_ms": latency_ms}

    return handler


async def _beat(url: str, token: str) -> None:
    with anyio.fail_after(TIME_OUT_S):
        await (_search(url, token) if token else _refused(url))


async def _search(url: str, token: str) -> None:
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=TIME_OUT_S) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(*streams) as session,
    ):
        await session.discover()
        listed = {tool.name for tool in (await session.list_tools()).tools}
        result = await session.call_tool("rag_search", {"query": QUERY, "top_k": 1})
    if result.is_error or "rag_search" not in listed:
        raise UpstreamFailed(f"rag_search was {'refused' if result.is_error else 'not listed'}")


async def _refused(url: str) -> None:
    root = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    async with httpx2.AsyncClient(timeout=TIME_OUT_S) as http:
        refused, metadata = await http.post(url, json={}), await http.get(root + METADATA)
    if (refused.status_code, metadata.status_code) != (401, 200):
        raise UpstreamFailed(f"without a token: {refused.status_code}, where tokens are had: {metadata.status_code}")
