"""Lambda entry point: the tools of bio_mcp.tools.bibliography."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import bibliography

handler = handler_for(bibliography)
