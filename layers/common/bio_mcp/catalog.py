"""Every tool by its contract's name and every resource by its URI template.

A module of `bio_mcp.tools` that declares one is on every door, and a Lambda function of its own.
"""

import re
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from bio_mcp import tools
from bio_mcp.tool import Resource, Tool, by_any_name, resources_in, tools_in

LISTED = ("search", "get_doc", "sync_delta", "checkpoint", "pubmed", "lookup")  # in this order; others follow by name


def modules_of_tools(package: ModuleType) -> tuple[ModuleType, ...]:
    """The modules of `package` that declare tools or resources, in the order in which they are listed."""
    names = sorted(each.name for each in iter_modules(package.__path__))
    names.sort(key=lambda name: LISTED.index(name) if name in LISTED else len(LISTED))
    modules = [import_module(f"{package.__name__}.{name}") for name in names]
    return tuple(each for each in modules if tools_in(each) or resources_in(each))


MODULES = modules_of_tools(tools)
TOOLS: dict[str, Tool] = {name: each for name, each in tools_in(*MODULES).items() if not each.family.of_pages}
RESOURCES: dict[str, Resource] = resources_in(*MODULES)

_QUOTED_OR_NAME = re.compile(r"(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]+[A-Z][A-Za-z]+\b")


def naming_tools(sentence: str, name_of: Callable[[Tool], str]) -> str:
    """The sentence with each tool called as `name_of` says. What it quotes stays, as do tools that are called by an
    ordinary word, such as `query`."""
    by_name = by_any_name(TOOLS.values())

    def named(match: re.Match[str]) -> str:
        return name_of(by_name[match[0]]) if match[0] in by_name else match[0]

    return _QUOTED_OR_NAME.sub(named, sentence)
