"""No constant of others and no function stands in two modules."""

import ast
import re
from collections import Counter
from collections.abc import Mapping
from uuid import UUID

import pytest

from tests.support.package_source import MODULES_OF_PACKAGE, parsed

ADDRESS_OR_ID = re.compile(r"https?://\S+\.\S+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LISTABLE = 9_999  # records of a search that PubMed lists


def constants(source: str) -> set[object]:
    """The addresses, ids and limits of others that a source writes out; longer texts do not count."""
    written = {node.value for node in ast.walk(parsed(source)) if isinstance(node, ast.Constant)}
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
        for node in parsed(source).body:
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
