"""Compose the one term that PubMed is asked, from a query and its filters."""

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bio_mcp.errors import InvalidInput
from bio_mcp.query_terms import unbalanced

DateType = Literal["pdat", "mdat", "edat"]
FIRST, LAST = "1800", "3000"  # what PubMed takes for a range without a beginning, or without an end
SHORTEST = 3
MOST_TYPES, LONGEST_TYPE = 50, 100  # publication types of a query, and characters of one: PubMed's longest has 60
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028\u2029\ufeff]+")


@dataclass(frozen=True, slots=True)
class DateRange:
    """Days as YYYY, YYYY/MM or YYYY/MM/DD, both included; None at an open end. `kind` is the date field."""

    first: str | None
    last: str | None
    kind: DateType = "pdat"


def effective_term(query: str, dates: DateRange | None = None, publication_types: Sequence[str] = ()) -> str:
    """The query and its filters as one PubMed term.

    The query stands in brackets where a filter is added, so that its own OR stays inside. Raises `InvalidInput`.
    """
    asked = clean(query)
    clauses = [clause for clause in (dates and _date_clause(dates), _type_clause(publication_types)) if clause]
    return " AND ".join([f"({asked})", *clauses]) if clauses else asked


def clean(query: str, name: str = "queryTerm") -> str:
    """The query on one line, without control characters; `name` is what the caller calls it.

    Raises `InvalidInput` for a query of under three characters, and for open brackets or quotation marks: they would
    swallow the filters behind them.
    """
    asked = " ".join(_CONTROL.sub(" ", query).split())
    if len(asked) < SHORTEST:
        raise InvalidInput(f"{name}: at least {SHORTEST} characters are needed, spaces aside")
    if problem := unbalanced(asked):
        raise InvalidInput(f"{name}: {problem}")
    return asked


def _date_clause(dates: DateRange) -> str | None:
    """The clause of a date range; None when both ends are open. Raises `InvalidInput` for a reversed range."""
    if dates.first is None and dates.last is None:
        return None
    first, last = _day("minDate", dates.first or FIRST), _day("maxDate", dates.last or LAST)
    if first[0] > last[1]:
        raise InvalidInput(f"dateRange: minDate {dates.first} is after maxDate {dates.last}; exchange them")
    return f'("{dates.first or FIRST}"[{dates.kind}] : "{dates.last or LAST}"[{dates.kind}])'


def _day(name: str, text: str) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The first and the last day that `text` means. Raises `InvalidInput` for days that no calendar has."""
    if not re.fullmatch(r"\d{4}(/\d{2}(/\d{2})?)?", text, re.ASCII):
        raise InvalidInput(f"dateRange.{name}: {text!r} is not YYYY, YYYY/MM or YYYY/MM/DD")
    year, month, day = (*map(int, text.split("/")), None, None)[:3]
    if not year or year > int(LAST):
        raise InvalidInput(f"dateRange.{name}: PubMed has no year {text[:4]}; give 0001 to {LAST}")
    if month is None:
        return (year, 1, 1), (year, 12, 31)
    if not 1 <= month <= 12:
        raise InvalidInput(f"dateRange.{name}: {text!r} has no month {month:02}; months are 01 to 12")
    days = calendar.monthrange(year, month)[1]
    if day is None:
        return (year, month, 1), (year, month, days)
    if not 1 <= day <= days:
        raise InvalidInput(f"dateRange.{name}: {text!r} has no day {day:02}; that month has {days} days")
    return (year, month, day), (year, month, day)


def _type_clause(names: Sequence[str]) -> str | None:
    """A clause for any of the types; names lose quotation marks and brackets, which would end the field early."""
    clauses = [f'"{_type(name)}"[Publication Type]' for name in dict.fromkeys(names)]
    if not clauses:
        return None
    if len(clauses) > MOST_TYPES:
        raise InvalidInput(f"filterByPublicationTypes: {len(clauses)} types; {MOST_TYPES} are the most")
    return clauses[0] if len(clauses) == 1 else f"({' OR '.join(clauses)})"


def _type(name: str) -> str:
    """A publication type's name without quotes and brackets. Raises `InvalidInput` for an empty or long one."""
    plain = " ".join(re.sub(r'["\[\]]', " ", _CONTROL.sub(" ", name)).split())
    if not plain:
        raise InvalidInput("filterByPublicationTypes: a type has no name; PubMed's are like Review or Clinical Trial")
    if len(plain) > LONGEST_TYPE:
        raise InvalidInput(f"filterByPublicationTypes: {plain[:40]!r}... is too long for a type's name")
    return plain


def unknown_type_reasons(publication_types: Sequence[str], dropped: Sequence[str]) -> list[str]:
    """Why there are more hits than requested: publication types that PubMed does not know and dropped."""
    dropped_types = [term.lower() for term in dropped if "publication type" in term.lower()]
    unknown = [name for name in publication_types if any(_type(name).lower() in term for term in dropped_types)]
    return [f"PubMed knows no publication type {name!r}: the hits are not filtered by it" for name in unknown]
