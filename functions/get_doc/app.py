"""Lambda entry point: the tools of bio_mcp.tools.get_doc."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import get_doc

handler = handler_for(get_doc)
