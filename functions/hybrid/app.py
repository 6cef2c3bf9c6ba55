"""Lambda entry point: the tools of bio_mcp.tools.hybrid."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import hybrid

handler = handler_for(hybrid)
