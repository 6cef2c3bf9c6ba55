"""Printed dates in the form of each style, as precise as the record and no more."""

import re

from bio_mcp.literature.records import MONTHS, PartialDate

_SEASONS = {"spring": 1, "summer": 2, "fall": 3, "autumn": 3, "winter": 4}
_SEASON = re.compile(r"\b(spring|summer|fall|autumn|winter)\b", re.IGNORECASE)
_MLA = ("Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.")
_YEARS = re.compile(r"(?<!\d)(1[5-9]\d\d|2[01]\d\d)(?!\d)")
_MONTHS = re.compile(r"\b(?:" + "|".join(MONTHS) + r")\b")
_DAYS = re.compile(r"[A-Za-z]{3} (\d{1,2})\s*-\s*(\d{1,2})$")


def csl_date(printed: PartialDate) -> dict[str, object]:
    """CSL `date-parts`: the start, and the end of a printed range of years or months; `literal` without a year."""
    if not printed.year:
        return {"literal": printed.text}
    parts = [[part for part in (printed.year, printed.month, printed.day) if part]]
    end = _end(printed)
    variables: dict[str, object] = {"date-parts": parts + ([end] if end and end != parts[0] else [])}
    season = _SEASON.search(printed.text)
    if season and not printed.month:
        variables["season"] = _SEASONS[season[1].lower()]
    return variables


def year(printed: PartialDate | None) -> str:
    """`2021`, or `1998-1999` for a printed range; the printed text without a year; "" without a date."""
    if printed is None or not printed.year:
        return printed.text if printed else ""
    years = _YEARS.findall(printed.text)
    return f"{years[0]}-{years[-1]}" if len(years) > 1 and years[0] != years[-1] else str(printed.year)


def nlm_date(printed: PartialDate | None) -> str:
    """`2021 Jun 7`, as NLM prints it."""
    return printed.text if printed else ""


def mla_date(printed: PartialDate | None) -> str:
    """`7 June 2021`, `Spring 2021`, `Dec. 1998-Jan. 1999`."""
    if printed is None or not printed.year:
        return printed.text if printed else ""
    season = _SEASON.findall(printed.text)
    if season:
        return f"{'-'.join(word.capitalize() for word in season)} {year(printed)}"
    months = _MONTHS.findall(printed.text)
    if len(months) > 1:
        return _mla_range(printed, months)
    days = _DAYS.search(printed.text)
    day = f"{days[1]}-{days[2]}" if days else str(printed.day or "")
    month = _MLA[printed.month - 1] if printed.month else ""
    return " ".join(filter(None, (day, month, year(printed))))


def ris_date(printed: PartialDate) -> str:
    """`2021/06/07/`: year, month, day, other."""
    numbers = [f"{n:02}" if n else "" for n in (printed.month, printed.day)]
    return "/".join([f"{printed.year:04}", *numbers, ""])


def _mla_range(printed: PartialDate, months: list[str]) -> str:
    """`May-June 2021`, or `Dec. 1998-Jan. 1999` across years."""
    first, last = (_MLA[MONTHS.index(month)] for month in (months[0], months[-1]))
    years = _YEARS.findall(printed.text)
    if len(years) > 1 and years[0] != years[-1]:
        return f"{first} {years[0]}-{last} {years[-1]}"
    return f"{first}-{last} {printed.year}"


def _end(printed: PartialDate) -> list[int] | None:
    """The last year, or year and month, of a printed range; None for a single date."""
    years, months = _YEARS.findall(printed.text), _MONTHS.findall(printed.text)
    if len(months) > 1:
        return [int(years[-1]), MONTHS.index(months[-1]) + 1]
    return [int(years[-1])] if len(years) > 1 else None
