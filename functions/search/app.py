"""Lambda entry point: the tools of bio_mcp.tools.search."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import search

handler = handler_for(search)
