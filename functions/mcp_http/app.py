"""Lambda entry point: every tool and resource over MCP."""

from bio_mcp.doors.aws.mcp_function import http_handler

handler = http_handler()
