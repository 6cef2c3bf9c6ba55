"""MCP over standard input and output: one client, which started us. Nothing but protocol goes to standard output."""

from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors import mcp
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings


def serve(settings: Settings, backends: Backends) -> None:
    """Serve until the client closes our input. Raises `InvalidInput` for a tool family that does not exist."""
    server = mcp.server(
        TOOLS.values(),
        RESOURCES.values(),
        mcp.in_process(backends),
        names=settings.tool_names,
        families=settings.tool_families,
    )

    anyio.run(over_standard_streams, server)


async def over_standard_streams(server: Server[Any]) -> None:
    """Speak with the process's parent; what tools print goes to standard error."""
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
