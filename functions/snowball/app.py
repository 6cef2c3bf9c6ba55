"""Lambda entry point: the tools of bio_mcp.tools.snowball."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import snowball

handler = handler_for(snowball)
