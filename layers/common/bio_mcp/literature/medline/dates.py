"""Dates as PubMed prints them, at their true precision.

A date that no calendar has is read as far as it makes sense. MedlineDate is free text. Forms seen: `1998 Dec-1999
Jan`, `2021 May-Jun`, `1977-1978`, `1977-1978 Dec-Jan`, `1977 Apr 17-21`, `2021 Apr-Jun 01`, `2021 3rd Quarter`,
`1979 Mar/Apr`, `2000 Spring-Summer`; the start counts. A season gives no month, since it falls in other months on
the other half of the globe, unless it is made of months (Season also holds `Sep-Dec`).
"""

import re
from datetime import date
from functools import lru_cache
from typing import Any

from lxml import etree

from bio_mcp.literature.medline.text import tidy
from bio_mcp.literature.records import MONTHS, PartialDate

_MONTHS = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|2[01]\d\d)(?!\d)(?:\s*[-/–]\s*\d{4}(?!\d))?")
_MONTH_DAY = re.compile(r"\W*([A-Za-z]{3,9})\b\.?(?:\s+(\d{1,2})(?!\d))?")
_QUARTER = re.compile(r"([1-4])(?:st|nd|rd|th)\s+(?:Quart|Trimes)", re.IGNORECASE)
_LONG = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
         "november", "december")  # fmt: skip


def printed(element: etree._Element) -> PartialDate | None:
    """Read PubDate, ArticleDate, ContributionDate and their like; None when empty."""
    parts: dict[Any, str | None] = {child.tag: child.text for child in element}
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
    return PartialDate(text, year, month, day if _date_or_none(year, month, day) else None)


def calendar_day(element: etree._Element) -> date | None:
    """Read DateRevised or DateCompleted; None when no calendar has that day."""
    return _calendar_day(*[child.text for child in element][:3])


def stamp(element: etree._Element) -> str | None:
    """PubMedPubDate as `YYYY-MM-DDTHH:MM`; `YYYY-MM-DD` without a possible hour, None without a possible day."""
    parts = [child.text for child in element]
    on = _calendar_day(*parts[:3])
    if on is None:
        return None
    hour, minute = (_number(part) for part in (*parts[3:5], *("",) * (5 - len(parts[:5]))))
    timed = hour is not None and hour < 24 and (minute or 0) < 60
    return f"{on}T{hour:02}:{minute or 0:02}" if timed else on.isoformat()


@lru_cache(maxsize=8192)
def _calendar_day(year: str | None = None, month: str | None = None, day: str | None = None) -> date | None:
    return _date_or_none(_number(year), month_number(month), _number(day))


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
    on = _number(day)
    return PartialDate(text, in_year, number, on if _date_or_none(in_year, number, on) else None)


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


def _number(text: str | None) -> int | None:
    text = text.strip() if text else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else None


def _date_or_none(year: int | None, month: int | None, day: int | None) -> date | None:
    """None for an incomplete date, and for a day that no calendar has."""
    if not (year and month and day):
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None
