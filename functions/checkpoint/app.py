"""Lambda entry point: the tools of bio_mcp.tools.checkpoint."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import checkpoint

handler = handler_for(checkpoint)
