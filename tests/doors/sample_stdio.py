"""The sample tools over standard input and output, as a program."""

import anyio

from bio_mcp.doors.logs import log_for_people
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.doors.mcp import stdio
from bio_mcp.doors.running import in_process
from bio_mcp.tool import resources_in, tools_in
from tests.doors import sample
from tests.doors.conftest import NO_BACKENDS

if __name__ == "__main__":
    log_for_people("debug")
    server = mcp_server.server(tools_in(sample).values(), resources_in(sample).values(), in_process(NO_BACKENDS))
    anyio.run(stdio.over_standard_streams, server)
