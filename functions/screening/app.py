"""Lambda entry point: the tools of bio_mcp.tools.screening."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import screening

handler = handler_for(screening)
