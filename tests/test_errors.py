"""One tree of exceptions: what crosses a module's border is a `Failure`, or stands here with the reason why not."""

import ast
import re
from collections.abc import Iterator

import pytest

from bio_mcp import errors
from tests.support.package_source import MODULES_OF_PACKAGE, body_of

OUTSIDE = {
    "errors.FunctionBroke": "a bug of ours, which `call` reports as one",
    "adapters.caching.Unreadable": "a miss of the cache, which caching alone sees",
    "adapters.embedded.index_file.Unusable": "has the file of an index read from the corpus, and doctor say why",
    "adapters.parsers.frames.Broken": "ends a parsing child, which the parser reports as an unreadable document",
    "adapters.workers.Died": "ends an embedding process, which its pool replaces and the import reports",
    "doors.auth.tokens.TokenRejected": "an answer of HTTP (401), before there is a call that could fail",
    "doors.cli.session.Failed": "carries the envelope of a call that has failed already",
}


def classes(modules: dict[str, str]) -> Iterator[tuple[str, ast.ClassDef]]:
    for name, source in modules.items():
        yield from ((name, node) for node in body_of(source) if isinstance(node, ast.ClassDef))


def outside_the_tree(modules: dict[str, str]) -> set[str]:
    """Exception classes, by dotted name, that do not descend from `Failure`; those of one module alone are left out."""
    bases = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases} - {node.name}
        for _, node in classes(modules)
    }

    def descends(name: str, ancestors: set[str]) -> bool:
        return name in ancestors or any(descends(base, ancestors) for base in bases.get(name, ()))

    return {
        f"{module}.{node.name}"
        for module, node in classes(modules)
        if descends(node.name, {"Exception", "BaseException", "RuntimeError", "ValueError", "KeyError", "OSError"})
        and not descends(node.name, {"Failure"})
        and not node.name.startswith("_")
    }


def test_what_crosses_a_modules_border_is_a_failure_or_has_a_reason_not_to_be():
    assert outside_the_tree(MODULES_OF_PACKAGE) == set(OUTSIDE)


@pytest.mark.parametrize("base", ["Exception", "ValueError", "errors.FunctionBroke"])
def test_an_exception_beside_the_tree_would_be_seen(base):
    known = {"errors": "class Failure(Exception): ...\nclass FunctionBroke(Exception): ..."}
    assert "new.Odd" in outside_the_tree(known | {"new": f"class Odd({base}): ..."})
    assert "new.Odd" not in outside_the_tree(known | {"new": "class Odd(Failure): ..."})


def test_the_tree_in_the_docstring_is_that_of_the_code():
    drawn = re.findall(r"^( *)[*+.-] (\w+)", errors.__doc__, re.MULTILINE)
    failures = {
        name for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, errors.Failure)
    }
    assert {name for _, name in drawn} == failures
    above: list[tuple[int, str]] = []
    for indent, name in drawn:
        above = [each for each in above if each[0] < len(indent)]
        parents = [base.__name__ for base in getattr(errors, name).__mro__ if issubclass(base, errors.Failure)]
        assert parents == [name, *(each for _, each in reversed(above))]
        above.append((len(indent), name))


@pytest.mark.parametrize(
    "name",
    [each.__name__ for each in vars(errors).values() if isinstance(each, type) and each.__module__ == "bio_mcp.errors"],
)
def test_each_error_says_what_it_is(name):
    assert getattr(errors, name).__doc__
