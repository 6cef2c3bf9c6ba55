"""Lambda entry point: the tools of bio_mcp.tools.scholarly."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import scholarly

handler = handler_for(scholarly)
