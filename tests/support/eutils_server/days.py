"""Days as PubMed counts them.

A day is the text `YYYY/MM/DD`, which sorts as dates do. The stamps in a record carry no zone; NCBI works in US Eastern,
so "today" is Eastern too and everything else is taken as written. The day is the finest unit a search can name.
"""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

EASTERN = ZoneInfo("America/New_York")
_QUERY_DATE = re.compile(r"(\d{4})(?:/(\d{1,2})(?:/(\d{1,2}))?)?$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12, "1st": 1, "2nd": 4, "3rd": 7, "4th": 10}
_WORD = re.compile(r"[a-z]+|\d\w*")


def today() -> str:
    """The day it is at NCBI (Bethesda, US Eastern)."""
    return datetime.now(EASTERN).strftime("%Y/%m/%d")


def span(text: str) -> tuple[str, str] | None:
    """First and last day that a date of a query covers: `2021/06` is the whole of June. None if it is no date.

    Only the documented forms are dates: dashes and times of day, whose effect nobody has verified, are not.

    The last day of a month is given as 31: days are compared as text, so an impossible 31st bounds the month too.
    """
    found = _QUERY_DATE.match(text.strip())
    if not found:
        return None
    year, month, day = found.groups()
    first = f"{year}/{int(month or 1):02}/{int(day or 1):02}"
    last = f"{year}/{int(month or 12):02}/{int(day or 31):02}"
    return first, last


def from_parts(year: str, month: str = "", day: str = "") -> str:
    """A day from a record's own parts: missing day is the 1st, missing month January (NCBI's rule for searches)."""
    return f"{int(year):04}/{month_number(month):02}/{int(day or 1):02}"


def month_number(text: str) -> int:
    """1-12 from `06`, `Jun`, `Jun-Jul`, a season or a quarter; 1 when nothing is said."""
    words = _WORD.findall(text.lower())
    if not words:
        return 1
    word = words[0]
    if word.isdigit():
        return int(word)
    return _SEASONS.get(word) or (_MONTHS.index(word[:3]) + 1 if word[:3] in _MONTHS else 1)


def from_medline_date(text: str) -> str | None:
    """The start of a MedlineDate such as `1998 Dec-1999 Jan`, `1977 Apr 17-21` or `2021 3rd Quarter`."""
    year = re.search(r"\d{4}", text)
    if not year:
        return None
    rest = re.sub(r"^-\d{4}", "", text[year.end() :]).split()
    month = rest[0] if rest else ""
    named = month[:3].lower() in _MONTHS or month.lower() in _SEASONS
    day = re.match(r"\d+", rest[1]) if named and len(rest) > 1 and "-" not in month else None
    return from_parts(year.group(), month if named or "-" in month else "", day.group() if day else "")
