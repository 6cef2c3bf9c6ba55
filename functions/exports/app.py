"""Lambda entry point: the tools of bio_mcp.tools.exports."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import exports

handler = handler_for(exports)
