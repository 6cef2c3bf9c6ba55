"""The page that says how to connect a client to this server."""

import base64
import json
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from bio_mcp.doors.console.console import Answer, Console

NAME = "bio-mcp"


def page(console: Console, resource: str) -> Answer:
    """The page with the endpoint's address, and what to do with it in each client.

    `resource` is the endpoint's public URL; without one it is where the browser has found this page.
    """

    async def show(request: Request) -> Response:
        endpoint = resource or str(request.url.replace(path="/mcp", query=""))
        return console.page(request, "connect.html", endpoint=endpoint, clients=_clients(endpoint))

    return show


def _clients(endpoint: str) -> dict[str, str]:
    """What each client is given: a command, a configuration, or the address of a button that installs it."""
    by_http = {"type": "http", "url": endpoint}
    code = quote(json.dumps({"name": NAME, **by_http}), safe="")
    cursor = quote(base64.b64encode(json.dumps({"url": endpoint}).encode()).decode(), safe="")
    return {
        "claude_code": f"claude mcp add --transport http {NAME} {endpoint}",
        "codex": f"codex mcp add {NAME} --url {endpoint}",
        "gemini": f"gemini mcp add --transport http {NAME} {endpoint}",
        "vscode": f"vscode:mcp/install?{code}",
        "vscode_file": json.dumps({"servers": {NAME: by_http}}, indent=2),
        "cursor": f"cursor://anysphere.cursor-deeplink/mcp/install?name={NAME}&config={cursor}",
    }
