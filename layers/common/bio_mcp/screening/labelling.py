"""Decide papers of a review."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from bio_mcp.ports import Backends
from bio_mcp.ports.screening import ScreeningLabel, Stage
from bio_mcp.screening.reviews import Review


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that somebody made; "none" takes an earlier one back."""

    record_id: str
    decision: Literal["include", "exclude", "maybe", "none"]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """How many labels changed; records that are not in the review, and those that are not at the stage."""

    labelled: int
    unchanged: int
    unknown: tuple[str, ...]
    not_at_stage: tuple[str, ...]


def label(
    review: Review, stage: Stage, decisions: Sequence[Decided], caller: str | None, backends: Backends
) -> Changes:
    """Store the decisions, in their order, and audit those that replace or take back another.

    The full text of a record is decided only where its abstract was included. A decision that stands already changes
    nothing, and keeps its time.
    """
    wanted = {each.record_id: each for each in decisions}
    eligible = {each.record_id for each in review.eligible(stage)}
    elsewhere = [name for name in wanted if name not in eligible]
    unknown = [name for name in elsewhere if name not in review.by_id]
    before = review.decisions(stage)
    new = [each for name, each in wanted.items() if name in eligible and _differs(each, before)]
    _store(review, stage, new, caller, backends)
    _audit(review, stage, new, before, backends)
    not_at_stage = tuple(name for name in elsewhere if name in review.by_id)
    return Changes(len(new), len(wanted) - len(elsewhere) - len(new), tuple(unknown), not_at_stage)


def _differs(decided: Decided, before: Mapping[str, ScreeningLabel]) -> bool:
    stands = before.get(decided.record_id)
    if stands is None:
        return decided.decision != "none"
    return (stands.decision, stands.reason) != (decided.decision, decided.reason)


def _store(review: Review, stage: Stage, new: Sequence[Decided], caller: str | None, backends: Backends) -> None:
    """Labels of one call are a microsecond apart, so that their order is that of the call."""
    now = backends.now()
    labels = [
        ScreeningLabel(each.record_id, stage, each.decision, now + timedelta(microseconds=at), each.reason, caller)
        for at, each in enumerate(new)
        if each.decision != "none"
    ]
    taken_back = [each.record_id for each in new if each.decision == "none"]
    if labels:
        backends.screenings.put_labels(review.name, labels)
    if taken_back:
        backends.screenings.remove_labels(review.name, stage, taken_back)


def _audit(
    review: Review, stage: Stage, new: Sequence[Decided], before: Mapping[str, ScreeningLabel], backends: Backends
) -> None:
    """Record what was decided otherwise before: a first decision is its own record."""
    old = {each.record_id: before[each.record_id].decision for each in new if each.record_id in before}
    if old:
        now = {each.record_id: each.decision for each in new if each.record_id in old}
        backends.audit.record(f"review.{stage}", review.name, old, now)
