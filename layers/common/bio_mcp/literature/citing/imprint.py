"""Printed dates and pages in the form of each style."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

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


def printed_year(printed: PartialDate | None) -> str:
    """`2021`, or `1998-1999` for a printed range; the printed text without a year; "" without a date."""
    if printed is None or not printed.year:
        return printed.text if printed else ""
    years = _YEARS.findall(printed.text)
    return f"{years[0]}-{years[-1]}" if len(years) > 1 and years[0] != years[-1] else str(printed.year)


def mla_date(printed: PartialDate | None) -> str:
    """`7 June 2021`, `Spring 2021`, `Dec. 1998-Jan. 1999`."""
    if printed is None or not printed.year:
        return printed.text if printed else ""
    season = _SEASON.findall(printed.text)
    if season:
        return f"{'-'.join(word.capitalize() for word in season)} {printed_year(printed)}"
    months = _MONTHS.findall(printed.text)
    if len(months) > 1:  # `May-June 2021`, or `Dec. 1998-Jan. 1999` across years
        first, last = (_MLA[MONTHS.index(month)] for month in (months[0], months[-1]))
        years = _YEARS.findall(printed.text)
        begins = f" {years[0]}" if len(set(years)) > 1 else ""
        return f"{first}{begins}-{last} {years[-1] if begins else printed.year}"
    days = _DAYS.search(printed.text)
    day = f"{days[1]}-{days[2]}" if days else str(printed.day or "")
    month = _MLA[printed.month - 1] if printed.month else ""
    return " ".join(filter(None, (day, month, printed_year(printed))))


def _end(printed: PartialDate) -> list[int] | None:
    """The last year, or year and month, of a printed range; None for a single date."""
    years, months = _YEARS.findall(printed.text), _MONTHS.findall(printed.text)
    if len(months) > 1:
        return [int(years[-1]), MONTHS.index(months[-1]) + 1]
    return [int(years[-1])] if len(years) > 1 else None


_RANGE = re.compile(r"([A-Za-z.]*)(\d+)([A-Za-z]*)\s*[-–]\s*([A-Za-z.]*)(\d+)([A-Za-z]*)")
_NUMBERED = re.compile(r"(?P<letters>[A-Za-z.]*)(?P<digits>\d+)")
_ROMAN = re.compile(r"[ivxlcdm]+(?:\s*-\s*[ivxlcdm]+)?", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:[a-z]{1,5}|E)\.?\d{3,}|\d{5,}|[\d.]+[./]\d+\S*|[a-z]{2,}\d[\w.-]+")


@dataclass(frozen=True, slots=True)
class Span:
    """One run of pages. A single page has no `last`; text that is no number stands in `first` as printed."""

    first: str
    last: str = ""


def spans(printed: str | None) -> tuple[Span, ...]:
    """Parse `737-8, 741` into 737-738 and 741. "; discussion 740" is not part of the article and is left out."""
    text = (printed or "").strip()
    if text.startswith("["):
        return (Span(text),)
    text = text.partition(";")[0]
    return tuple([_span(part.strip()) for part in text.split(",") if part.strip()])


def article_number(printed: str | None, electronic: bool) -> str | None:
    """The number of an article that has no pages (`e58144`, `58144`, `2021.05.14.444`); None for pages.

    `electronic`: the journal has no paper edition, so a single number cannot be a page.
    """
    text = (printed or "").strip()
    if not text or re.search(r"[-–,;\s]", text) or _ROMAN.fullmatch(text):
        return None
    return text if electronic or _ARTICLE.fullmatch(text) else None


def full_pages(printed: str | None, dash: str = "-", last: Callable[[Span], str] = attrgetter("last")) -> str:
    """Ranges, by default with both numbers in full: `737-738, 741`. `dash` joins them."""
    return ", ".join(f"{span.first}{dash}{last(span)}" if span.last else span.first for span in spans(printed))


def labelled_pages(pages: str, dash: str) -> str:
    """`p. 737` or `pp. 737-38`; "" without pages. `dash` is the one that they are printed with."""
    return f"{'pp.' if dash in pages or ',' in pages else 'p.'} {pages}" if pages else ""


def nlm_pages(printed: str | None) -> str:
    """NLM's abbreviated ranges: `737-8`, `1715-7`, `e1-12`; "; discussion 740" stays."""
    main, mark, rest = (printed or "").partition(";")
    if main.startswith("["):
        return printed or ""
    return full_pages(main, last=_abbreviated) + mark + rest


def _abbreviated(span: Span) -> str:
    """The last page from the first digit that differs; a letter in front is not repeated."""
    first, last = _NUMBERED.fullmatch(span.first), _NUMBERED.fullmatch(span.last)
    if not (first and last) or first["letters"] != last["letters"] or len(first["digits"]) != len(last["digits"]):
        return span.last
    pairs = zip(first["digits"], last["digits"], strict=True)
    return last["digits"][next((i for i, (a, b) in enumerate(pairs) if a != b), 0) :]


def _span(text: str) -> Span:
    """Parse one range: `737-8` -> 737-738, `e12-e20`, roman numerals; anything else is a single page as printed."""
    match = _RANGE.fullmatch(text)
    if not match:
        first, dash, last = text.partition("-")
        whole = dash and _ROMAN.fullmatch(first.strip()) and _ROMAN.fullmatch(last.strip())
        return Span(first.strip(), last.strip()) if whole else Span(text)
    before, start, after, before_end, end, after_end = match.groups()
    if len(end) < len(start):
        end = start[: len(start) - len(end)] + end
    first = f"{before}{start}{after}"
    last = f"{before_end or before}{end}{after_end}"
    return Span(first) if first == last else Span(first, last)


def mla_last(span: Span) -> str:
    """MLA's second number: at least two digits, and from the first that differs: `737-38`, `1003-05`, `923-1003`."""
    first, last = span.first, span.last
    if not (first.isdigit() and last.isdigit()) or len(first) != len(last) or len(first) < 3:
        return last
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=True)) if a != b), len(first))
    return last[min(same, len(last) - 2) :]
