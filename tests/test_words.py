"""Names are the field's words, and every public name says what it is."""

import ast
from collections.abc import Iterator

import pytest

from tests.package_source import MODULES_OF_PACKAGE

# Each of them once named several things here, and none that a maintainer would search for.
PRIVATE = set("anew desk flights honest kept lacking said shelf standing tally told untold".split())


def identifiers(source: str) -> Iterator[str]:
    """Every name that a source gives or uses: of modules, classes, functions, parameters, attributes and locals."""
    for node in ast.walk(ast.parse(source)):
        for field in ("id", "arg", "attr", "name", "asname"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def private_words(source: str) -> set[str]:
    return {name for name in identifiers(source) if PRIVATE & set(name.lower().replace(".", "_").split("_"))}


def undocumented(parent: ast.Module | ast.ClassDef, law: frozenset[str] = frozenset()) -> Iterator[str]:
    """Public classes, functions and methods without a docstring, those in functions and private classes aside.

    A method needs none where its port or its base class has it: `law` names the methods of ports.
    """
    overrides = isinstance(parent, ast.ClassDef) and [base for base in parent.bases if ast.unparse(base) != "Protocol"]
    for node in parent.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        inherited = overrides or (isinstance(parent, ast.ClassDef) and node.name in law)
        if not ast.get_docstring(node) and not (inherited and not isinstance(node, ast.ClassDef)):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from undocumented(node, law)


def methods(source: str) -> set[str]:
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return {node.name for each in classes for node in each.body if isinstance(node, ast.FunctionDef)}


PORTS = {name: source for name, source in MODULES_OF_PACKAGE.items() if name.startswith("ports")}
LAW = frozenset(name for source in PORTS.values() for name in methods(source))


def test_no_name_is_a_private_word():
    assert {name: words for name, source in MODULES_OF_PACKAGE.items() if (words := private_words(source))} == {}


@pytest.mark.parametrize(
    "source",
    [
        "kept = 1",
        "def f(told): ...",
        "class Shelf_: ...",
        "x.standing_of(1)",
        "from bio_mcp.tools import desk",
        "import numpy as said",
        "def asked_anew(): ...",
    ],
)
def test_a_private_word_would_be_seen(source):
    assert private_words(source)


def test_every_public_name_says_what_it_is():
    law = {name: frozenset() if name in PORTS else LAW for name in MODULES_OF_PACKAGE}
    found = {name: list(undocumented(ast.parse(source), law[name])) for name, source in MODULES_OF_PACKAGE.items()}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    [
        "def f(): ...",
        "async def f(): ...",
        "class A(B):\n    x = 1",
        'class A:\n    """A."""\n    def f(self): ...',
        'class A:\n    """A."""\n    @property\n    def f(self): ...',
        'class A(Protocol):\n    """A."""\n    def put(self): ...',
    ],
)
def test_a_name_that_says_nothing_would_be_seen(source):
    assert list(undocumented(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "def _f(): ...",
        "class _A:\n    def f(self): ...",
        'class A:\n    """A."""\n    def put(self): ...',
        'class A(Formatter):\n    """A."""\n    def format(self): ...',
    ],
)
def test_what_is_private_or_inherited_needs_no_docstring(source):
    assert list(undocumented(ast.parse(source), frozenset({"put"}))) == []
