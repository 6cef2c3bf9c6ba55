"""Lambda entry point: every tool and resource over MCP."""

from bio_mcp.doors.mcp_lambda import http_handler

handler = http_handler()
