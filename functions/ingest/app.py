"""Lambda entry point: the tools of bio_mcp.tools.ingest."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import ingest

handler = handler_for(ingest)
