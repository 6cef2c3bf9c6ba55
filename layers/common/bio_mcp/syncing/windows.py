"""Which records a run asks for: date windows, and how they are cut until NCBI can list them whole."""

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
        return f'("{self.start:%Y/%m/%d}"[{self.field}] : "{self.end:%Y/%m/%d}"[{self.field}])'

    def halves(self) -> tuple["Range", "Range"]:
        middle = self.start + (self.end - self.start) // 2
        return Range(self.field, self.start, middle), Range(self.field, middle + timedelta(days=1), self.end)


@dataclass(frozen=True, slots=True)
class Segment:
    """Records whose dates lie in all of `within` and in none of `without`; `window` says for which field it is."""

    window: str
    within: tuple[Range, ...]
    without: tuple[Range, ...] = ()

    def term(self, user_term: str) -> str:
        found = " AND ".join([f"({user_term})", *(each.clause for each in self.within)])
        if not self.without:
            return found
        return f"({found}) NOT ({' OR '.join(each.clause for each in self.without)})"

    def split(self) -> tuple["Segment", "Segment"]:
        """Two segments that together hold the same records, the earlier days first.

        Raises `NcbiQueryRejected` when there is no date left to cut along.
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
        used = {each.field for each in self.within}
        for field in FURTHER_FIELDS:
            if field not in used:
                return Range(field, FIRST_DAY, LAST_DAY)
        raise NcbiQueryRejected(
            f"more than {LISTABLE:,} records share every date with {day.start}; narrow the term, for example by [la]"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "window": self.window,
            "within": [_range_to_json(each) for each in self.within],
            "without": [_range_to_json(each) for each in self.without],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        return cls(
            given["window"],
            tuple(_range_from_json(each) for each in given["within"]),
            tuple(_range_from_json(each) for each in given["without"]),
        )


def _range_to_json(given: Range) -> dict[str, str]:
    return {key: str(value) for key, value in asdict(given).items()}


def _range_from_json(given: Mapping[str, str]) -> Range:
    return Range(given["field"], date.fromisoformat(given["start"]), date.fromisoformat(given["end"]))


def windows(watermarks: Mapping[str, date | None], overlap_days: int, end: date) -> list[Segment]:
    """One segment per date field, from its own watermark less the overlap to `end`, none holding another's records.

    EDAT alone loses records: it is backdated when PubMed creates a record a year after publication, and it never
    moves when a record is revised.
    """
    found: list[Segment] = []
    seen: list[Range] = []
    for field in FIELDS:
        watermark = watermarks.get(field)
        read = 0 if watermark is None else max(0, (watermark - FIRST_DAY).days - overlap_days)  # days
        asked = Range(field, min(FIRST_DAY + timedelta(days=read), end), end)
        found.append(Segment(field, (asked,), tuple(seen)))
        seen.append(asked)
    return found


def check_term(term: str) -> str:
    """The term, trimmed. Raises `InvalidInput` when its brackets or quotes would swallow the clauses added to it."""
    if not term.strip() or unbalanced(term):
        raise InvalidInput(f"term: {'has unbalanced brackets or quotes' if term.strip() else 'is blank'}", term=term)
    return term.strip()
