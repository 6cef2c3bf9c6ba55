"""Hand-made MCP requests, for what no well-behaved client sends."""

from typing import Any

import httpx

MODERN = "2026-07-28"
HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
ACCEPT = "application/json, text/event-stream"


def post(
    url: str, method: str, params: dict[str, Any] | None = None, version: str = MODERN, **headers: str
) -> httpx.Response:
    """One JSON-RPC request in the wire format of `version`."""
    params = dict(params or {})
    sent = {"accept": ACCEPT, "mcp-protocol-version": version, **headers}
    if version == MODERN:
        meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
        params["_meta"] = {**meta, **params.get("_meta", {})}
        sent["mcp-method"] = method
        if named := params.get("name") or params.get("uri") or params.get("taskId"):
            sent.setdefault("mcp-name", named)
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return request("POST", url, json=body, headers=sent)


def request(method: str, url: str, **sent: Any) -> httpx.Response:
    """Send to a server on this machine: without certificates, whose loading costs more than all the rest."""
    with httpx.Client(verify=False, timeout=30) as client:  # noqa: S501  plain HTTP
        return client.request(method, url, **sent)
