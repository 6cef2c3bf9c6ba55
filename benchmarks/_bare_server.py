"""The official SDK's server with one tool that does nothing, as its documentation shows it: what MCP itself costs.

python -m benchmarks._bare_server PORT
"""

import sys

from mcp.server.mcpserver import MCPServer

bare = MCPServer("bare")


@bare.tool()
def echo(text: str) -> str:
    """Say it again."""
    return text


if __name__ == "__main__":
    bare.run("streamable-http", port=int(sys.argv[1]), stateless_http=True, json_response=True)
