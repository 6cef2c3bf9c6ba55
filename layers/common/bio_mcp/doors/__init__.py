"""The entry points: Lambda, MCP over HTTP and stdio, and the command line. Each translates a request, calls, and
translates the outcome back."""
