"""MCP, over HTTP and stdio."""
