"""Lambda entry point: the tools of bio_mcp.tools.jobs."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import jobs

handler = handler_for(jobs)
