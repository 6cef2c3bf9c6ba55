"""Lambda entry point: the tools of bio_mcp.tools.news."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import news

handler = handler_for(news)
