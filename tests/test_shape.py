"""The shape of the code stays what it is, and each measure of it sees what it is to see."""

from pathlib import Path
from statistics import median

import pytest

from benchmarks import code

MODULES = code.sources(Path(__file__).parents[1] / code.PACKAGE)
TESTS = code.sources(Path(__file__).parent)
LONGEST_BODY, LONGEST_MODULE = 30, 300


def too_long(modules):
    """Functions whose body has more lines than `LONGEST_BODY`."""
    found = [(name, each) for name, source in modules.items() for each in code.functions(source)]
    return [f"{name}.{each.name}" for name, each in found if code.body_lines(each) > LONGEST_BODY]


def test_no_function_is_long():
    assert too_long(MODULES) == []
    assert too_long({"m": "def f():\n    '''Docstring.'''\n" + "    x = 1\n" * 31}) == ["m.f"]
    assert too_long({"m": "def f():\n    '''Docstring.'''\n" + "    x = 1\n" * 30}) == []


def test_most_functions_have_a_few_lines():
    bodies = sorted(code.body_lines(each) for source in MODULES.values() for each in code.functions(source))
    assert (median(bodies) <= 4, bodies[int(len(bodies) * 0.9)] <= 12) == (True, True)


def test_modules_are_short():
    lengths = [len(source.splitlines()) for source in MODULES.values()]
    assert (median(lengths) <= 85, max(lengths) <= LONGEST_MODULE) == (True, True)


def test_few_functions_branch_much():
    found = [code.complexity(each) for source in MODULES.values() for each in code.functions(source)]
    assert sum(each > 10 for each in found) / len(found) < 0.02


@pytest.mark.parametrize(
    ("body", "complexity"),
    [
        ("return 1", 1),
        ("if a:\n  pass\n elif b:\n  pass", 3),
        ("for a in b:\n  pass", 2),
        ("return a and b and c", 3),
        ("return [x for x in y if x]", 3),
        ("try:\n  pass\n except OSError:\n  pass", 2),
    ],
)
def test_complexity_counts_ways_through_a_function(body, complexity):
    [function] = code.functions(f"def f():\n {body}")
    assert code.complexity(function) == complexity


def test_nothing_is_written_twice():
    twice, lines = code.repeated(MODULES.values())
    assert twice / lines < 0.005
    block = "\n".join(f"x{number} = 1" for number in range(6))
    assert code.repeated([block, f"y = 0\n{block}\n# note\n"]) == (12, 13)


def test_everything_is_typed():
    found = [each for source in MODULES.values() for each in code.functions(source)]
    assert code.typed(found) == (1, 1)
    assert code.typed(code.functions("def f(self, a, b: int): ...")) == (0.5, 0)


def test_an_eighth_of_the_lines_explains():
    lines = sum(bool(line.strip()) for source in MODULES.values() for line in source.splitlines())
    assert sum(map(code.docstring_lines, MODULES.values())) / lines > 0.125
    assert code.docstring_lines('"""One.\n\nTwo."""\ndef f():\n    """Three."""') == 4
    assert code.comment_lines("x = 1  # one\n# two\n'# none'\n") == 2


def test_there_are_more_tests_than_code():
    assert sum(len(each) for each in TESTS.values()) > sum(len(each) for each in MODULES.values())


@pytest.mark.parametrize(
    ("handler", "swallows"),
    [
        ("except Exception:\n pass", True),
        ("except:\n pass", True),
        ("except (OSError, BaseException):\n log()", True),
        ("except Exception as error:\n raise Failure from error", False),
        ("except OSError:\n pass", False),
    ],
)
def test_an_except_swallows_what_it_catches_all_of_and_does_not_raise(handler, swallows):
    assert bool(code.swallowing(f"try:\n f()\n{handler}")) == swallows


def test_a_circle_of_imports_is_seen_however_long():
    modules = {"a": "from bio_mcp.b import x", "b": "def f():\n from bio_mcp.c import y", "c": "import json"}
    assert code.circles(modules) == []
    assert code.circles(modules | {"c": "from bio_mcp.a import z"}) == [{"a", "b", "c"}]
    assert code.circles(modules | {"c": "from bio_mcp import a"}) == [{"a", "b", "c"}]
