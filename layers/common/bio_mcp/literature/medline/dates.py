"""Dates as PubMed prints them, at their true precision.

A date that no calendar has is read as far as it makes sense. MedlineDate is free text. Forms seen: `1998 Dec-1999
Jan`, `2021 May-Jun`, `1977-1978`, `1977-1978 Dec-Jan`, `1977 Apr 17-21`, `2021 Apr-Jun 01`, `2021 3rd Quarter`,
`1979 Mar/Apr`, `2000 Spring-Summer`; the start counts. A season gives no month, since it falls in other months on
the other half of the globe, unless it is made of months (Season also holds `Sep-Dec`).
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from typing import Any

from lxml import etree

from bio_mcp.literature.medline.markup import tidy
from bio_mcp.literature.records import MONTHS, PartialDate

_MONTHS = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|2[01]\d\d)(?!\d)(?:\s*[-/–]\s*\d{4}(?!\d))?")
_MONTH_DAY = re.compile(r"\W*([A-Za-z]{3,9})\b\.?(?:\s+(\d{1,2})(?!\d))?")
_QUARTER = re.compile(r"([1-4])(?:st|nd|rd|th)\s+(?:Quart|Trimes)", re.IGNORECASE)
_LONG = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
         "november", "december")  # fmt: skip


def printed(element: etree._Element) -> PartialDate | None:
    """Read PubDate, ArticleDate, ContributionDate and their like; None when empty."""
    return printed_of({child.tag: child.text for child in element})


def printed_of(parts: Mapping[Any, str | None]) -> PartialDate | None:
    """The same of the texts of such an element's children, by their tags."""
    free = parts.get("MedlineDate")
    if free:
        return medline_date(free)
    return _partial(parts.get("Year"), parts.get("Month"), parts.get("Day"), parts.get("Season"))


def medline_date(text: str) -> PartialDate:
    """Read free text; year, month and day are those of its start, as far as it gives them."""
    text = " ".join(text.split())
    match = _YEAR.search(text)
    if not match:
        return PartialDate(text)
    year = int(match[1])
    month, day = _month_day(text[: match.start()])
    if month is None:
        month, day = _month_day(text[match.end() :])
    return PartialDate(text, year, month, _day_of(year, month, day))


def calendar_day(element: etree._Element) -> date | None:
    """Read DateRevised or DateCompleted; None when no calendar has that day."""
    year, month, day = _three(element)
    return _calendar_day(year, month, day)


def stamp(element: etree._Element) -> str | None:
    """Format PubMedPubDate as `YYYY-MM-DDTHH:MM`, or `YYYY-MM-DD` without an hour; None when impossible."""
    return stamp_of(*[child.text for child in element])


def _three(element: etree._Element) -> tuple[str | None, str | None, str | None]:
    texts = [child.text for child in element]
    year, month, day = (*texts, None, None, None)[:3]
    return year, month, day


@lru_cache(maxsize=8192)
def _calendar_day(year: str | None, month: str | None, day: str | None) -> date | None:
    return _make_or_none(date, _number(year), month_number(month), _number(day))


@lru_cache(maxsize=8192)
def stamp_of(*parts: str | None) -> str | None:
    """Year, month, day, hour and minute as texts; an impossible hour leaves the day."""
    year, month, day, hour, minute = (*parts, None, None, None, None, None)[:5]
    on = _calendar_day(year, month, day)
    if on is None or hour is None:
        return on.isoformat() if on else None
    h, m = _number(hour), _number(minute) or 0
    return f"{on}T{h:02}:{m:02}" if h is not None and h < 24 and m < 60 else on.isoformat()


@lru_cache(maxsize=8192)
def _partial(year: str | None, month: str | None, day: str | None, season: str | None) -> PartialDate | None:
    """A date from its elements. `text` has the month as PubMed abbreviates it, whatever the element has."""
    year, month, day, season = (tidy(part) if part else None for part in (year, month, day, season))
    if not year:
        return None
    number = month_number(month) or _month_day(season or "")[0]
    name = MONTHS[number - 1] if number and month else month
    text = " ".join(part for part in (year, season, name, day and (day.lstrip("0") or day)) if part)
    in_year = _number(year)
    if not in_year:
        return PartialDate(text)
    return PartialDate(text, in_year, number, _day_of(in_year, number, _number(day)))


def month_number(text: str | None) -> int | None:
    """`Jun`, `June`, `06` and `6` -> 6; None for anything else."""
    if not text:
        return None
    named = _MONTHS.get(text[:3].lower())
    if named:
        return named if _LONG[named - 1].startswith(text.lower()) or text.lower() == "sept" else None
    number = _number(text)
    return number if number and number <= 12 else None


def _month_day(text: str) -> tuple[int | None, int | None]:
    """The month, and the day if there is one, at the start of free text; a quarter counts as its first month."""
    quarter = _QUARTER.search(text)
    if quarter:
        return 3 * int(quarter[1]) - 2, None
    match = _MONTH_DAY.match(text)
    month = month_number(match[1]) if match else None
    return (month, _number(match[2])) if match and month else (None, None)


def _day_of(year: int, month: int | None, day: int | None) -> int | None:
    return day if _make_or_none(date, year, month, day) else None


def _number(text: str | None) -> int | None:
    text = text.strip() if text else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else None


def _make_or_none(
    make: Callable[[int, int, int], date], year: int | None, month: int | None, day: int | None
) -> date | None:
    """Call `make` with a complete date; None for an incomplete one, and for a day that no calendar has."""
    if not (year and month and day):
        return None
    try:
        return make(year, month, day)
    except ValueError:
        return None
