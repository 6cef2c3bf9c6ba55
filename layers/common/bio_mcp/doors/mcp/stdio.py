"""MCP over standard input and output, for the one client that started this process. Only protocol messages are
written to standard output."""

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.running import in_process
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings

FOR_PEOPLE = (
    "bio-mcp speaks MCP here with the program that starts it, one JSON message a line. To connect a client, let it run "
    "this command: README.md, Connect a client. Ctrl-C ends it."
)
CHUNK = 65_536  # bytes


def serve(settings: Settings, backends: Backends) -> None:
    """Serve until standard input is closed or SIGINT comes."""
    server = mcp_server.server(
        TOOLS.values(),
        RESOURCES.values(),
        in_process(backends, local=True),
        names=settings.tool_names,
        listed=settings.listed_tools,
    )
    if sys.stdin.isatty():
        print(FOR_PEOPLE, file=sys.stderr, flush=True)
    end_input_on_interrupt()
    anyio.run(over_standard_streams, server)


def end_input_on_interrupt() -> None:
    """Let SIGINT end standard input: it is replaced by a pipe, as a thread that reads it cannot be interrupted."""
    client = os.dup(0)
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    os.close(reading)
    ended = threading.Event()

    def end(*_: object) -> None:
        if not ended.is_set():
            ended.set()
            os.close(writing)

    def copy() -> None:
        with suppress(OSError):
            while (chunk := os.read(client, CHUNK)) and not ended.is_set():
                while chunk:
                    chunk = chunk[os.write(writing, chunk) :]
        end()

    signal.signal(signal.SIGINT, end)
    threading.Thread(target=copy, name="bio-mcp-stdin", daemon=True).start()


async def over_standard_streams(server: Server[Any]) -> None:
    """Speak MCP with the parent process; what tools print goes to standard error."""
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
