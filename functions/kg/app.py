"""Lambda entry point: the tools of bio_mcp.tools.kg."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import kg

handler = handler_for(kg)
