"""Windows of dates, cut until NCBI can list them whole, and the watermarks up to which they were read."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Self

from bio_mcp.errors import InvalidInput, NcbiQueryRejected
from bio_mcp.literature.clock import eastern_day
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import LISTABLE
from bio_mcp.ports.state import Checkpoint
from bio_mcp.query_terms import unbalanced

FIELDS = ("edat", "crdt", "mdat")
# A day that holds more than can be listed is cut along the next of these.
FURTHER_FIELDS = ("pdat", "mdat", "crdt", "edat")
FIRST_DAY, LAST_DAY = date(1800, 1, 1), date(3000, 12, 31)


@dataclass(frozen=True, slots=True)
class Range:
    """Days of one date field, both ends included."""

    field: str
    start: date
    end: date

    @property
    def clause(self) -> str:
        return f'("{self.start:%Y/%m/%d}"[{self.field}] : "{self.end:%Y/%m/%d}"[{self.field}])'


@dataclass(frozen=True, slots=True)
class Segment:
    """Records whose dates lie in all of `within` and in none of `without`. `window` is the date field."""

    window: str
    within: tuple[Range, ...]
    without: tuple[Range, ...] = ()

    def term(self, user_term: str) -> str:
        """The user's term restricted to this segment."""
        inside = " AND ".join([f"({user_term})", *(each.clause for each in self.within)])
        if not self.without:
            return inside
        return f"({inside}) NOT ({' OR '.join(each.clause for each in self.without)})"

    def split(self) -> list["Segment"]:
        """Two segments that together have the same records, the earlier days first.

        A segment of a single day is split along another date field. Raises `NcbiQueryRejected` when no field is left.
        """
        *outer, last = self.within
        if last.start == last.end:
            used = {each.field for each in self.within}
            unused = next((field for field in FURTHER_FIELDS if field not in used), None)
            if unused is None:
                raise NcbiQueryRejected(
                    f"more than {LISTABLE:,} records share every date with {last.start}; narrow the term, for example "
                    "by [la]"
                )
            outer, last = list(self.within), Range(unused, FIRST_DAY, LAST_DAY)
        middle = last.start + (last.end - last.start) // 2
        halves = (last.start, middle), (middle + timedelta(days=1), last.end)
        return [Segment(self.window, (*outer, Range(last.field, *days)), self.without) for days in halves]

    def to_json(self) -> dict[str, Any]:
        within, without = (
            [{"field": each.field, "start": str(each.start), "end": str(each.end)} for each in ranges]
            for ranges in (self.within, self.without)
        )
        return {"window": self.window, "within": within, "without": without}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        within, without = (
            tuple(
                Range(each["field"], date.fromisoformat(each["start"]), date.fromisoformat(each["end"]))
                for each in stored[ranges]
            )
            for ranges in ("within", "without")
        )
        return cls(stored["window"], within, without)


def windows(watermarks: Mapping[str, date | None], overlap_days: int, end: date) -> list[Segment]:
    """One segment per date field, from its own watermark less `overlap_days` to `end`; no record is in two of them.

    EDAT alone loses records: PubMed backdates it when it creates a record a year after publication, and a revision
    never moves it.
    """
    segments: list[Segment] = []
    seen: list[Range] = []
    for field in FIELDS:
        watermark = watermarks.get(field)
        read = 0 if watermark is None else max(0, (watermark - FIRST_DAY).days - overlap_days)  # days
        asked = Range(field, min(FIRST_DAY + timedelta(days=read), end), end)
        segments.append(Segment(field, (asked,), tuple(seen)))
        seen.append(asked)
    return segments


def check_term(term: str) -> str:
    """Return the term, trimmed. Raises `InvalidInput` for an empty one, and for open brackets or quotes."""
    if not term.strip():
        raise InvalidInput("is blank", term=term, field="term")
    if unbalanced(term):
        raise InvalidInput("has unbalanced brackets or quotes", term=term, field="term")
    return term.strip()


SLACK_DAYS = 2  # PubMed's entry date may be a day later than the day on which a record came


def watermarks(checkpoint: Checkpoint) -> dict[str, date | None]:
    """Map each date field to the day up to which its records have been read; None where none were."""
    shared = eastern_day(checkpoint.last_edat) if checkpoint.last_edat else None
    return {
        field: date.fromisoformat(checkpoint.windows[field]) if field in checkpoint.windows else shared
        for field in FIELDS
    }


def future_warning(checkpoint: Checkpoint, today: date) -> str | None:
    """The warning for a watermark after `today`; None when there is none."""
    latest = max(filter(None, watermarks(checkpoint).values()), default=today)
    if latest <= today:
        return None
    return (
        f"its watermark is in the future, at {latest}: the clock here is behind, or was ahead; the next sync draws it "
        "back if NCBI's day is before it"
    )


def rewind(request: dict[str, Any], backends: Backends, today: date) -> str | None:
    """Move a watermark after `today` back to the newest entry date seen. Returns the warning, None if unchanged.

    Records after that date may never have been read. Without such a date the query is read from the first day.
    """
    key, term = request["query_key"], request["term"]
    checkpoint = backends.checkpoints.get(key, term)
    latest = max(filter(None, watermarks(checkpoint).values()), default=today)
    if latest <= today:
        return None
    seen = eastern_day(checkpoint.last_edat) if checkpoint.last_edat else None
    if seen is None or seen > today:
        backends.checkpoints.set(key, None, {}, term)
        back = "the first day"
    else:
        back = str(seen - timedelta(days=SLACK_DAYS))
        backends.checkpoints.set(key, checkpoint.last_edat, dict.fromkeys(FIELDS, back), term)
    return (
        f"the watermark of {key!r} was in the future, at {latest}, left there by a fast clock; it was "
        f"drawn back to {back}"
    )
