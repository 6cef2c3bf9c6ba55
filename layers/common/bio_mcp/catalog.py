"""Every tool by its contract's name and every resource by its URI template.

A module of `bio_mcp.tools` that declares one is on every door, and a Lambda function of its own.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from bio_mcp import tools
from bio_mcp.tool import Resource, Tool, resources_in, tools_in

LISTED = ("search", "get_doc", "sync_delta", "checkpoint", "pubmed", "lookup")  # in this order; others follow by name


def modules_of_tools(package: ModuleType) -> tuple[ModuleType, ...]:
    """The modules of `package` that declare tools or resources, in the order in which they are listed."""
    names = sorted(each.name for each in iter_modules(package.__path__))
    names.sort(key=lambda name: LISTED.index(name) if name in LISTED else len(LISTED))
    modules = [import_module(f"{package.__name__}.{name}") for name in names]
    return tuple(each for each in modules if tools_in(each) or resources_in(each))


MODULES = modules_of_tools(tools)
TOOLS: dict[str, Tool] = tools_in(*MODULES)
RESOURCES: dict[str, Resource] = resources_in(*MODULES)
