"""Every tool by its contract's name and every resource by its URI template. A module added here is on every door."""

from bio_mcp.tool import Resource, Tool, resources_in, tools_in
from bio_mcp.tools import checkpoint, get_doc, lookup, pubmed, search, sync_delta

MODULES = (search, get_doc, sync_delta, checkpoint, pubmed, lookup)
TOOLS: dict[str, Tool] = tools_in(*MODULES)
RESOURCES: dict[str, Resource] = resources_in(*MODULES)
