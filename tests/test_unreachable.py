"""`make check` names what stands in the package and nothing reaches."""

from scripts.unreachable import unreachable

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
