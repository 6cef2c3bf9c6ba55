"""Lambda entry point: the tools of bio_mcp.tools.evaluate."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import evaluate

handler = handler_for(evaluate)
