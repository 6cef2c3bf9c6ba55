"""Each public name is imported from one module: the one that defines it, or that hands it on."""

import ast
from collections.abc import Iterator

import pytest

from tests.support.package_source import MODULES_OF_PACKAGE, ROOT, imports, parsed, within


def module_level(source: str) -> Iterator[ast.stmt]:
    """The statements of a module, those within `if`, `try` and `with` included, not those of functions and classes."""
    waiting: list[ast.AST] = list(parsed(source).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.If | ast.Try | ast.ExceptHandler | ast.With):
            waiting += ast.iter_child_nodes(node)


def defined(source: str) -> set[str]:
    """The names that a module defines by itself."""
    nodes = list(module_level(source))
    named = {each.name for each in nodes if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)}
    targets = [each for node in nodes if isinstance(node, ast.Assign) for each in node.targets]
    targets += [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
    return named | {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def handed_on(source: str) -> dict[str, str]:
    """What a module declares as its own although another defines it: name -> the module that defines it."""
    froms = [node for node in module_level(source) if isinstance(node, ast.ImportFrom)]
    listed = source.partition("__all__ = ")[2]
    return {
        alias.name: (node.module or "").removeprefix("bio_mcp.")
        for node in froms
        for alias in node.names
        if alias.asname == alias.name or f'"{alias.name}"' in listed
    }


DEFINED = {name: defined(source) for name, source in MODULES_OF_PACKAGE.items()}
HANDED_ON = {name: names for name, source in MODULES_OF_PACKAGE.items() if (names := handed_on(source))}
WHOLE = {*MODULES_OF_PACKAGE, "__version__"}


def second_paths(name: str, source: str) -> list[str]:
    """What `source` imports of ours by another way than the one: the module that defines it, or that hands it on."""
    imported = [each.removeprefix("bio_mcp.") for each in imports(source) if each.startswith("bio_mcp.")]
    wanted = [each for each in imported if each not in WHOLE]
    return [each for each in wanted if not _the_path(name, *each.rpartition(".")[::2])]


def _the_path(importer: str, module: str, name: str) -> bool:
    fronts = [front for front, names in HANDED_ON.items() if names.get(name) == module]
    own = name in DEFINED.get(module, ()) and all(within(importer, {front}) for front in fronts)
    return own or name in HANDED_ON.get(module, {})


def test_each_public_name_has_one_import_path():
    others = [path for place in ("tests", "benchmarks", "scripts") for path in (ROOT / place).rglob("*.py")]
    sources = MODULES_OF_PACKAGE | {str(path.relative_to(ROOT)): path.read_text() for path in others}
    assert {name: found for name, source in sources.items() if (found := second_paths(name, source))} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from bio_mcp.adapters.entrez.client import Summaries",
        "from bio_mcp.ports import Jobs",
        "from bio_mcp.literature.jats import FullText",
        "def late():\n    from bio_mcp.literature.medline.stream import parse",
    ],
)
def test_a_second_import_path_would_be_seen(source):
    assert second_paths("tools.search", source)
