"""Lambda entry point: the tools of bio_mcp.tools.projects."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import projects

handler = handler_for(projects)
