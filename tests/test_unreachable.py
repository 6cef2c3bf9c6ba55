"""Nothing stands in the package that nothing reaches."""

from scripts.unreachable import ALLOWED, SOURCES, unreachable, unused

UNREACHABLE = """
from enum import StrEnum

LEFT_OVER = 3


class Kept:
    def called(self) -> None: ...
    def forgotten(self) -> None: ...


def never() -> None:
    Kept().called()
"""


def test_something_reaches_everything():
    assert list(unreachable(SOURCES)) == []


def test_what_nothing_reaches_would_be_named(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(UNREACHABLE)
    named = [line.rpartition(": nothing reaches the ")[2] for line in unreachable([module])]
    assert named == ["variable LEFT_OVER", "method forgotten", "function never"]


def test_no_name_is_allowed_that_something_reaches():
    assert ALLOWED.keys() - {each.name for each in unused(SOURCES)} == set()
