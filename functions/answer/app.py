"""Lambda entry point: the tools of bio_mcp.tools.answer."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import answer

handler = handler_for(answer)
