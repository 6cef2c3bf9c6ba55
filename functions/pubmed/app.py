"""Lambda entry point: the tools of bio_mcp.tools.pubmed."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import pubmed

handler = handler_for(pubmed)
