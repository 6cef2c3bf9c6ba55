"""The files in which MCP clients list their servers: where each client has its own, and how this server is put in."""
