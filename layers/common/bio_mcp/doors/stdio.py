"""MCP over standard input and output: one client, which started us. Nothing but protocol goes to standard output."""

import anyio
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

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)
