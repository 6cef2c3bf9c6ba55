"""Lambda entry point: the tools of bio_mcp.tools.desk."""

from bio_mcp.doors.aws_lambda import handler_for
from bio_mcp.tools import desk

handler = handler_for(desk)
