"""The shape of the code and of its tests stays what it is: each measure and rule of it sees what it is to see."""

import ast
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

import pytest

from benchmarks import code
from benchmarks.code import patches
from scripts.unreachable import unreachable
from tests.support.package_source import MODULES_OF_PACKAGE, ROOT

MODULES = code.sources(Path(__file__).parents[1] / code.PACKAGE)
MOST_WAYS = 23  # through a function; ruff counts fewer things, and holds them to 8
SMALL_MODULES: dict[str, str] = {}  # module -> why it stands apart from the only sibling that imports it; at most 20


def test_no_function_branches_much():
    found = {f"{name}.{each.name}": code.complexity(each) for name in MODULES for each in code.functions(MODULES[name])}
    assert {name: ways for name, ways in found.items() if ways > MOST_WAYS} == {}


def test_nothing_is_written_twice():
    twice, lines = code.repeated(MODULES.values())
    assert twice / lines < 0.005
    block = "\n".join(f"x{number} = 1" for number in range(6))
    assert code.repeated([block, f"y = 0\n{block}\n# note\n"]) == (12, 13)


def test_everything_is_typed():
    found = [each for source in MODULES.values() for each in code.functions(source)]
    assert code.typed(found) == (1, 1)
    assert code.typed(code.functions("def f(self, a, b: int): ...")) == (0.5, 0)


def test_code_is_what_is_neither_blank_comment_docstring_nor_import():
    source = '"""One.\n\nTwo."""\nimport a\nfrom b import (\n    c,\n)\n\n# note\nX = 1  # one\n"""Of X."""\n'
    assert code.code_lines(source) == 1
    assert code.code_lines("def f():\n    '''Two\n    lines.'''\n    import a\n    return 'text'\n") == 2
    assert code.docstring_lines('"""One.\n\nTwo."""\ndef f():\n    """Three."""') == 4
    assert code.comment_lines("x = 1  # one\n# two\n'# none'\n") == 2
    (function,) = code.functions("@decorated\ndef f(\n    a,\n):\n    return a\n")
    assert (code.length(function), code.body_lines(function)) == (4, 1)


def test_what_one_sibling_needs_stands_in_it():
    assert set(code.small_with_one_importer(MODULES)) == set(SMALL_MODULES)
    assert len(SMALL_MODULES) <= 20


USER = "from bio_mcp.a import small\nfrom bio_mcp.a.small import x"


@pytest.mark.parametrize(
    ("modules", "found"),
    [
        ({"a.small": "x = 1", "a.user": USER}, ["a.small"]),
        ({"a.small": "x = 1\n" * 80, "a.user": USER}, []),
        ({"a.small": "x = 1", "a.user": USER, "a.other": USER}, []),
    ],
)
def test_a_small_module_of_one_sibling_is_found(modules, found):
    assert code.small_with_one_importer(modules) == found


def test_no_module_imports_itself_by_way_of_others():
    assert code.circles(MODULES) == []
    modules = {"a": "from bio_mcp.b import x", "b": "def f():\n from bio_mcp.c import y", "c": "import json"}
    assert code.circles(modules | {"c": "from bio_mcp.a import z"}) == [{"a", "b", "c"}]
    assert code.circles(modules | {"c": "from bio_mcp import a"}) == [{"a", "b", "c"}]


UNREACHABLE = """
from enum import StrEnum

LEFT_OVER = 3


class Kept:
    def called(self) -> None: ...
    def forgotten(self) -> None: ...


def never() -> None:
    Kept().called()
"""


def test_what_nothing_reaches_would_be_named(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(UNREACHABLE)
    named = [line.rpartition(": nothing reaches the ")[2] for line in unreachable([module])]
    assert named == ["variable LEFT_OVER", "method forgotten", "function never"]


ADDRESS_OR_ID = re.compile(r"https?://\S+\.\S+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LISTABLE = 9_999  # records of a search that PubMed lists


def constants(source: str) -> set[object]:
    """The addresses, ids and limits of others that a source writes out; longer texts do not count."""
    written = {node.value for node in code.nodes_of(source) if isinstance(node, ast.Constant)}
    return {each for each in written if each == LISTABLE or (isinstance(each, str) and ADDRESS_OR_ID.fullmatch(each))}


def written_twice(sources: Mapping[str, str]) -> set[object]:
    every = Counter(each for source in sources.values() for each in constants(source))
    return {each for each, modules_with_it in every.items() if modules_with_it > 1}


def test_an_address_an_id_and_a_limit_of_others_stand_in_one_module():
    beside_the_calendar = {name: source for name, source in MODULES_OF_PACKAGE.items() if name != "literature.clock"}
    assert written_twice(beside_the_calendar) == set()


@pytest.mark.parametrize("constant", ['"https://x.example/"', 'f"https://x.example/{id}"', f'"{UUID(int=7)}"', "9_999"])
def test_a_constant_that_stands_in_two_modules_would_be_seen(constant):
    assert written_twice({"pubmed": f"X = {constant}", "settings": f"def f():\n    return {constant}"})


def written_again(sources: Mapping[str, str]) -> list[list[str]]:
    """Functions of several modules that do the same, word for word, whatever they are called."""
    places: dict[str, list[str]] = {}
    for name, source in sources.items():
        for node in ast.iter_child_nodes(code.nodes_of(source)[0]):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                places.setdefault("\n".join(map(ast.unparse, body)), []).append(f"{name}.{node.name}")
    return [each for body, each in places.items() if body and len(each) > 1]


def test_no_function_is_written_again_in_another_module():
    assert written_again(MODULES_OF_PACKAGE) == []


def test_a_function_that_is_written_again_would_be_seen():
    one, again = (f"def {name}(x):\n    {doc}\n    return x + 1" for name, doc in (("f", '"""Add."""'), ("_g", "")))
    assert written_again({"retrieval.chunking": one, "retrieval.sentences": again}) == [
        ["retrieval.chunking.f", "retrieval.sentences._g"]
    ]


SKIPS = ("skip", "skipif", "xfail", "importorskip")


def skips(source: str) -> list[str]:
    if not any(word in source for word in SKIPS):  # most have none, and need not be parsed
        return []
    attributes = [node for node in code.nodes_of(source) if isinstance(node, ast.Attribute)]
    return [ast.unparse(n) for n in attributes if n.attr in SKIPS]


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        (patches, "from unittest.mock import patch"),
        (patches, "import unittest.mock"),
        (patches, "from unittest import mock"),
        (patches, "def test_x(mocker):\n    mocker.patch('x')"),
        (patches, "def test_x(monkeypatch):\n    monkeypatch.setattr(module, 'X', 1)"),
        (patches, "def test_x(monkeypatch):\n    monkeypatch.setattr('bio_mcp.module.X', 1)"),
        (skips, "@pytest.mark.skip\ndef test_x(): ..."),
        (skips, "def test_x():\n    pytest.skip('later')"),
        (skips, "lxml = pytest.importorskip('lxml')"),
    ],
)
def test_a_test_that_patches_or_skips_would_be_seen(rule, broken):
    assert rule(broken)


def test_tests_neither_patch_nor_skip():
    sources = {path: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    found = {path: [*patches(source), *skips(source)] for path, source in sources.items()}
    assert {path: each for path, each in found.items() if each} == {}
