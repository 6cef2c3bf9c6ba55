"""The ways in: Lambda, MCP over HTTP and stdio, command line. Each translates, calls, translates back."""
