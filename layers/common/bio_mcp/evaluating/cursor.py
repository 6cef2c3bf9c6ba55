"""State of an evaluation: what was asked, the figures in the end, and those of earlier runs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from bio_mcp.evaluating.figures import Result
from bio_mcp.evaluating.outcomes import Outcome

MOST_RUNS = 100  # in the history of a set


@dataclass(frozen=True, slots=True)
class Run:
    """An evaluation that ended at `ended` (ISO 8601), of the set's version, by the model with this fingerprint."""

    ended: str
    version: str
    model: str
    results: tuple[Result, ...]

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """The run that `asdict` wrote."""
        return cls(given["ended"], given["version"], given["model"], tuple(Result(**each) for each in given["results"]))


@dataclass(slots=True)
class Cursor:
    """What a job holds: the outcomes so far, `expected` questions in all, earlier runs, the oldest first, and in the
    end this one, as the last of them, with the key of its report. `warnings` are sentences for the user."""

    expected: int = 0
    outcomes: list[Outcome] = field(default_factory=list)
    history: list[Run] = field(default_factory=list)
    report_key: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Questions that were asked."""
        return self.expected if self.report_key else len(self.outcomes)

    @property
    def results(self) -> Sequence[Result]:
        """The figures of this run; none before it has ended."""
        return self.history[-1].results if self.report_key else ()

    def ended(self, run: Run, report_key: str) -> None:
        """Add the run to the history, of which the oldest are dropped, and forget the questions."""
        self.history = [*self.history, run][-MOST_RUNS:]
        self.report_key, self.outcomes = report_key, []

    def to_json(self) -> dict[str, Any]:
        """The state as its job holds it."""
        return {
            "expected": self.expected,
            "outcomes": [each.to_json() for each in self.outcomes],
            "history": [asdict(each) for each in self.history],
            "report_key": self.report_key,
            "warnings": self.warnings,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """The state that `to_json` wrote."""
        return cls(
            given["expected"],
            [Outcome.from_json(each) for each in given["outcomes"]],
            [Run.from_json(each) for each in given["history"]],
            given["report_key"],
            given["warnings"],
        )
