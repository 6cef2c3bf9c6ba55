"""Date windows: which records a run asks for, cut until NCBI can list them whole."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any, Self

from bio_mcp.errors import InvalidInput, NcbiQueryRejected
from bio_mcp.ports.pubmed import LISTABLE
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
        """The range in PubMed's search syntax."""
        return f'("{self.start:%Y/%m/%d}"[{self.field}] : "{self.end:%Y/%m/%d}"[{self.field}])'

    def halves(self) -> tuple["Range", "Range"]:
        """The earlier and the later half of the days."""
        middle = self.start + (self.end - self.start) // 2
        return Range(self.field, self.start, middle), Range(self.field, middle + timedelta(days=1), self.end)


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

    def split(self) -> tuple["Segment", "Segment"]:
        """Two segments that together have the same records, the earlier days first.

        A segment of a single day is split along another date field. Raises `NcbiQueryRejected` when no field is left.
        """
        *outer, last = self.within
        if last.start == last.end:
            outer, last = list(self.within), self._further(last)
        first, second = last.halves()
        return (
            Segment(self.window, (*outer, first), self.without),
            Segment(self.window, (*outer, second), self.without),
        )

    def _further(self, day: Range) -> Range:
        """The full range of the next date field that this segment does not use yet, to split a single day along."""
        used = {each.field for each in self.within}
        for field in FURTHER_FIELDS:
            if field not in used:
                return Range(field, FIRST_DAY, LAST_DAY)
        raise NcbiQueryRejected(
            f"more than {LISTABLE:,} records share every date with {day.start}; narrow the term, for example by [la]"
        )

    def to_json(self) -> dict[str, Any]:
        """The segment as JSON values, for a cursor."""
        return {
            "window": self.window,
            "within": [_range_to_json(each) for each in self.within],
            "without": [_range_to_json(each) for each in self.without],
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Restore a segment that `to_json` wrote."""
        return cls(
            stored["window"],
            tuple(_range_from_json(each) for each in stored["within"]),
            tuple(_range_from_json(each) for each in stored["without"]),
        )


def _range_to_json(days: Range) -> dict[str, str]:
    return {key: str(value) for key, value in asdict(days).items()}


def _range_from_json(stored: Mapping[str, str]) -> Range:
    return Range(stored["field"], date.fromisoformat(stored["start"]), date.fromisoformat(stored["end"]))


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
    if not term.strip() or unbalanced(term):
        raise InvalidInput(f"term: {'has unbalanced brackets or quotes' if term.strip() else 'is blank'}", term=term)
    return term.strip()
