"""The shape of the code stays what it is, and each measure of it sees what it is to see."""

from pathlib import Path

import pytest

from benchmarks import code

MODULES = code.sources(Path(__file__).parents[1] / code.PACKAGE)
MOST_WAYS = 23  # through a function; ruff counts fewer things, and holds them to 8
SMALL_MODULES = {  # module -> why it stands apart from the only sibling that imports it; at most 20
    "doors.aws.mcp_function": "a Lambda function, imported by its app.py",
}


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
