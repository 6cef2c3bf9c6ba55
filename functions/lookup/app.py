"""Lambda entry point: the tools of bio_mcp.tools.lookup."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import lookup

handler = handler_for(lookup)
