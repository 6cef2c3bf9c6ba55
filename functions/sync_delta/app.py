"""Lambda entry point: the tools of bio_mcp.tools.sync_delta."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import sync_delta

handler = handler_for(sync_delta)
