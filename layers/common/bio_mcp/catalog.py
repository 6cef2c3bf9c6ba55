"""Every tool by its contract's name and every resource by its URI template. A module added here is on every door."""

from types import ModuleType

from bio_mcp.tool import Resource, Tool, resources_in, tools_in

MODULES: tuple[ModuleType, ...] = ()
TOOLS: dict[str, Tool] = tools_in(*MODULES)
RESOURCES: dict[str, Resource] = resources_in(*MODULES)
