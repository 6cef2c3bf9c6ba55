"""MCP over Streamable HTTP and stdio."""
