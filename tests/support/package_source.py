"""The source of the package, as the tests of its rules read it."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from benchmarks.code import nodes_of

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers/common/bio_mcp"


def modules() -> dict[str, str]:
    """Every module of the package, by dotted name within it, with its source."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path.read_text()
    return found


MODULES_OF_PACKAGE = modules()


def body_of(source: str) -> list[ast.stmt]:
    """The statements of a module."""
    return cast(ast.Module, nodes_of(source)[0]).body


def imports(source: str) -> Iterator[str]:
    """What `source` imports, anywhere in it, as dotted names; a relative import starts with a dot."""
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def modules_that_break(rule: Callable[[str, str], Any]) -> dict[str, Any]:
    """What a rule finds in each module of the package, by name; modules in which it finds nothing are left out."""
    return {name: found for name, source in MODULES_OF_PACKAGE.items() if (found := rule(name, source))}


def within(name: str, places: set[str]) -> bool:
    return any(name == place or name.startswith(place + ".") for place in places)
