"""The page that a person sees who opens the server's address in a browser: how to connect a client."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

PAGE = """\
bio-mcp: biomedical literature for AI agents, over MCP (Model Context Protocol).

This address is for programs. Connect an MCP client to

    {endpoint}

by Streamable HTTP, for example Claude Code:

    claude mcp add --transport http bio-mcp {endpoint}
"""


class Landing:
    """Answers a GET with how to connect and with this status: 405 where only POST is allowed.

    `resource` is the endpoint's public URL, if it has one. Must be behind `HostOriginCheck`, as it echoes the Host
    header.
    """

    def __init__(self, status: int, resource: str = "") -> None:
        self._status = status
        self._resource = resource

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._resource or str(Request(scope).url.replace(path="/mcp", query=""))
        headers = {"allow": "POST"} if self._status == 405 else {}
        await PlainTextResponse(PAGE.format(endpoint=endpoint), self._status, headers)(scope, receive, send)
