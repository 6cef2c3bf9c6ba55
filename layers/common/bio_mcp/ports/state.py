"""How far queries were synced, jobs, leases, and the log of changes made by hand."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Protocol

from bio_mcp.literature.clock import earlier, later

NOWHERE: Mapping[str, str] = MappingProxyType({})
"""No watermarks."""
TERMS_BYTES = 200_000  # of the terms of one key; the one synced longest ago is dropped first, and read from the start


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The watermarks of a named query for one term. `last_edat` is the newest entry date seen, ISO 8601 UTC.

    `windows` has one watermark per date field ("edat", "crdt", "mdat"): a day in US Eastern, YYYY-MM-DD. A checkpoint
    without a term passes to the term that is synced next.
    """

    query_key: str
    last_edat: str | None = None
    windows: Mapping[str, str] = field(default_factory=dict)
    term: str | None = None

    def advanced(self, last_edat: str | None, windows: Mapping[str, str]) -> "Checkpoint":
        """This checkpoint with each later watermark taken over; none moves back."""
        later_days = {name: later(self.windows.get(name), day) or day for name, day in windows.items()}
        newest = later(self.last_edat, last_edat)
        return replace(self, last_edat=newest, windows={**self.windows, **later_days})

    def drawn_back(self, last_edat: str | None, windows: Mapping[str, str]) -> "Checkpoint":
        """This checkpoint with each earlier watermark taken over; none moves forward."""
        days = {name: min(day, windows.get(name, day)) for name, day in self.windows.items()}
        return replace(self, last_edat=earlier(self.last_edat, last_edat), windows=days)


@dataclass(frozen=True, slots=True)
class KeyCheckpoints:
    """The checkpoints of one query key, one per term; the last is the term that was synced last.

    A watermark says nothing about the records of another term, so each term starts with none, at the first day.
    """

    query_key: str
    terms: tuple[Checkpoint, ...] = ()

    def of(self, term: str | None) -> Checkpoint:
        """The checkpoint of `term`, or of the term synced last if None; an empty one where there is none."""
        if term is None:
            return self.terms[-1] if self.terms else Checkpoint(self.query_key)
        matching = [each for each in self.terms if each.term in (term, None)]
        best = max(matching, key=lambda each: each.term is not None, default=Checkpoint(self.query_key))
        return replace(best, term=term)

    def advanced(self, term: str, last_edat: str | None, windows: Mapping[str, str]) -> "KeyCheckpoints":
        """A copy with the watermarks of `term` moved forward; it takes over a checkpoint that has no term yet.

        Terms that were synced longest ago are dropped while the terms of the key exceed `TERMS_BYTES`.
        """
        others = [each for each in self.terms if each.term not in (term, None)]
        checkpoint = self.of(term).advanced(last_edat, windows)
        room = TERMS_BYTES
        while others and sum(len((each.term or "").encode()) for each in others) > room:
            others.pop(0)
        return KeyCheckpoints(self.query_key, (*others, checkpoint))

    def moved(self, term: str | None, last_edat: str | None, windows: Mapping[str, str]) -> "KeyCheckpoints":
        """A copy with the watermarks of `term` moved anywhere.

        Without a term it is the one synced last, and every other term is drawn back with it.
        """
        moved = replace(self.of(term), last_edat=last_edat, windows=dict(windows))
        if term is None:
            others = [each.drawn_back(last_edat, windows) for each in self.terms[:-1]]
        else:
            others = [each for each in self.terms if each.term not in (term, None)]
        return KeyCheckpoints(self.query_key, (*others, moved))


class Checkpoints(Protocol):
    """The watermarks of each query key and term, as `KeyCheckpoints` says. Every method may raise `StoreFailed`.

    A change is atomic: all watermarks of a call move together, whatever others write in between. It may raise
    `Conflict` where many move the same key at once; nothing was written then.
    """

    def get(self, query_key: str, term: str | None = None) -> Checkpoint:
        """Return the checkpoint of a term, or of the term that was synced last; an empty one where there is none."""
        ...

    def advance(
        self, query_key: str, term: str, last_edat: str | None = None, windows: Mapping[str, str] = NOWHERE
    ) -> Checkpoint:
        """Move forward each watermark of the term that is later than the stored one; returns what stands now.

        The term is now the one that was synced last; with nothing to move it is recorded as begun.
        """
        ...

    def set(
        self, query_key: str, last_edat: str | None, windows: Mapping[str, str], term: str | None = None
    ) -> Checkpoint:
        """Move the watermarks of a term anywhere, backwards too; returns what stood before.

        Without a term it is the one that was synced last, and the others go back with it, never forward.
        """
        ...

    def all(self, query_key: str | None = None) -> list[Checkpoint]:
        """Return every checkpoint, or those of a key, by query key; within a key the last is the one synced last."""
        ...

    def remove(self, query_key: str) -> list[Checkpoint]:
        """Delete every checkpoint of the key; returns what stood."""
        ...


@dataclass(slots=True)
class Job:
    """A long piece of work. `cursor` is the state that a later run resumes from; `progress` is for people.

    `state`: running, waiting (will continue), stalled (until somebody syncs again), succeeded, failed, cancelled.
    `progress` of a sync: processed, expected, error (why its last run ended early), reported (its result was returned).
    """

    job_id: str
    kind: str
    state: str
    created: datetime
    updated: datetime
    request: dict[str, Any] = field(default_factory=dict)
    cursor: dict[str, Any] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)

    @property
    def unfinished(self) -> bool:
        """Whether there is work left that a run may resume."""
        return self.state in {"running", "waiting", "stalled"}

    @property
    def lease(self) -> str:
        """Name of the lease that whoever works on the job holds."""
        return f"{self.kind}:{self.request['query_key']}"


class Jobs(Protocol):
    """Long pieces of work, by id. Every method may raise `StoreFailed`.

    A store may drop a job half a year after its last change.
    """

    def get(self, job_id: str) -> Job:
        """Return the job. Raises `NotFound`."""
        ...

    def put(self, job: Job) -> None:
        """Store the job in place of what it was; one that was cancelled stays as it is."""
        ...

    def is_cancelled(self, job_id: str) -> bool:
        """Return whether the job exists and was cancelled."""
        ...

    def remove(self, job: Job) -> None:
        """Delete the job, finished or not; an unknown one changes nothing."""
        ...

    def latest(self, kind: str, query_key: str, term: str | None = None) -> Job | None:
        """Return the newest job of this kind with this `request["query_key"]`, whatever its state.

        With a term, the newest of those that have it as `request["term"]`.
        """
        ...

    def newest(self, kind: str, most: int) -> list[Job]:
        """Return the newest jobs of this kind, `most` at most, the newest first, whatever their state.

        Those that were made more than half a year ago may be left out.
        """
        ...


class Leases(Protocol):
    """At most one holder per name. Every method may raise `StoreFailed`."""

    def acquire(self, name: str, holder: str, seconds: float) -> bool:
        """Take or extend the lease for `seconds` from now; False while another holder's has not run out."""
        ...

    def release(self, name: str, holder: str) -> None:
        """End the lease if `holder` has it; another holder's stays."""
        ...


class Audit(Protocol):
    """The log of changes made by hand; it is only ever added to. Not idempotent: each call adds a record."""

    def record(self, action: str, subject: str, before: Any, after: Any, caller: str | None = None) -> None:
        """Append a record. `before` and `after` are JSON values; `caller` is who asked, where known.

        Raises `StoreFailed`.
        """
        ...
