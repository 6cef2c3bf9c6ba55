"""Lambda entry point: the tools of bio_mcp.tools.chunks."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import chunks

handler = handler_for(chunks)
