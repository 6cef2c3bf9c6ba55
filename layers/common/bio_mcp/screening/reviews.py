"""A review as it stands: its records, how each was decided, and in which order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bio_mcp.ports.screening import Decision, ReviewRecord, ScreeningLabel, Screenings, Stage

if TYPE_CHECKING:
    from bio_mcp.screening.stopping import Stopping

MOST_RECORDS = 20_000  # of a review: what can be ranked within a call


@dataclass(frozen=True)
class Review:
    """The state of a review. `records` are by id, `labels` the oldest first."""

    name: str
    records: Sequence[ReviewRecord]
    labels: Sequence[ScreeningLabel]

    @cached_property
    def by_id(self) -> Mapping[str, ReviewRecord]:
        """The records by id."""
        return {each.record_id: each for each in self.records}

    def decisions(self, stage: Stage) -> dict[str, ScreeningLabel]:
        """The labels of a stage by record, the oldest first, of records that are in the review."""
        return {each.record_id: each for each in self.labels if each.stage == stage and each.record_id in self.by_id}

    def of(self, stage: Stage, decision: Decision) -> list[str]:
        """The records that were decided so, the oldest decision first."""
        return [name for name, label in self.decisions(stage).items() if label.decision == decision]

    def settled(self, stage: Stage) -> dict[str, bool]:
        """True for each included record and False for each excluded one; `maybe` is left for later."""
        decisions = self.decisions(stage).items()
        return {name: label.decision == "include" for name, label in decisions if label.decision != "maybe"}

    def eligible(self, stage: Stage) -> list[ReviewRecord]:
        """The records that the stage is about: all, or for the full text those included by their abstracts."""
        if stage == "abstract":
            return list(self.records)
        passed = set(self.of("abstract", "include"))
        return [each for each in self.records if each.record_id in passed]

    def stopping(self, stage: Stage) -> "Stopping":
        """How many papers the stage may still miss."""
        from bio_mcp.screening.stopping import estimate  # loads numpy, which a label does not need

        settled = self.settled(stage)
        names = {each.record_id for each in self.eligible(stage)}
        decided = [included for name, included in settled.items() if name in names]
        return estimate(decided, len(names) - len(decided))


def review_of(name: str, screenings: Screenings) -> Review:
    """Read the review; one that nobody began has no records."""
    return Review(name, screenings.records(name), screenings.labels(name))


def counted(labels: Iterable[ScreeningLabel]) -> dict[Decision, int]:
    """How many labels have each decision."""
    decisions = [each.decision for each in labels]
    return {"include": decisions.count("include"), "exclude": decisions.count("exclude"),
            "maybe": decisions.count("maybe")}  # fmt: skip
