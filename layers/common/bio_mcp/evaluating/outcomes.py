"""What became of one question, small enough to be saved in a job."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class RankingOutcome:
    """Where a question's papers stand in the answer of a search, from 1, retracted papers not counted.

    `relevant` is how many papers answer it, `near_miss` the best place of those most similar to them that do not.
    """

    question_id: str
    relevant: int
    places: tuple[int, ...] = ()
    near_miss: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The outcome as a job holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """The outcome that `to_json` wrote."""
        return cls(**{**given, "places": tuple(given["places"])})
