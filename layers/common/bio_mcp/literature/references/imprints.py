"""Year, volume, issue and pages in a reference."""

import re
from dataclasses import dataclass

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Spring|Summer|Fall|Autumn|Winter)[a-z]*\.?"
_DATE = rf"(?:\s*{_MONTH}(?:[-–/]{_MONTH})?)?(?:\s*\d{{1,2}}(?:st|nd|rd|th)?)?(?:[-–]\s?(?:{_MONTH}\s?)?\d{{1,2}})?"
_YEAR = r"(?<![\d./–-])(?P<year>1[6-9]\d\d|20\d\d)"
_PAGE = r"(?:[A-Za-z]{1,6}\.?\s?)?\d[\w.]*?|[ivxlc]+"
_PAGES = rf"(?P<pages>(?:{_PAGE})(?:\s*[-–—‐‑−]+\s*(?:{_PAGE}))?)"
_VOLUME = r"(?P<volume>\d{1,4}[A-Za-z]?(?:\s?[-–/]\s?\d{1,4}|\s?Suppl\.?(?:\s\d+)?|\s?Pt\s\d+)?|[IVXLC]{1,7}(?![a-z]))"
_ISSUE = r"(?:\s*[(\[](?P<issue>[^()\[\]]{1,40})[)\]])"
_ARTICLE = r"(?:pp?\.\s?|pages?\s|[Aa]rt(?:icle|\.)?\s?(?:[Nn]o\.?|[Nn]umber|ID)?\s?|[Nn]o\.\s?|[Ii]D\s)?"
_END = r"(?=[\s.,;:)\]]|$)"
_YEARS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\((?:[^()\d]{{0,30}}\s)?{_YEAR}[a-z]?(?:[,;/]?\s[^()]{{0,30}})?\)(?!\s*[:,]?\s*\d+[-–]\d)",
        rf"{_YEAR}{_DATE}\s*[;]",
        rf"(?:[.,]\s*){_YEAR}[a-z]?{_DATE}[\s.,:]*(?=(?:[Vv]ol\.?\s?)?\d+[A-Za-z]?\s*[(,:;-])",
        rf"(?:\b[A-Z][\w.]*[.,]?\s){_YEAR}{_DATE}[,:;]\s*(?=\d|[(])",
        rf"(?<=[\s,.:;]){_YEAR}[a-z]?\.?$",
        rf"(?:\.\s|,\s){_YEAR}[a-z]?[.,:]\s",
        rf"{_YEAR}(?![\d–-])",
    )
)
_AT_ONCE = re.compile(rf"[\s.,:;]{{0,4}}(?:\((?:[^()\d]{{0,30}}\s)?)?{_YEAR}(?![\d–])[a-z]?(?:[^()]{{0,30}}\))?")
_NUMBERS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"[;]\s*{_VOLUME}?\s*{_ISSUE}?\s*[:,]\s*{_ARTICLE}{_PAGES}{_END}",
        rf"\b[Vv]ol(?:ume|\.)?\s?{_VOLUME}{_ISSUE}?,?\s*(?:(?:[Nn]o\.?|[Ii]ss(?:ue|\.)?)\s?(?P<issue2>[\w-]+))?[,:;.]?\s*{_ARTICLE}{_PAGES}{_END}",
        rf"(?<=[\s,.]){_VOLUME}\s*\(\s+\)\s*[:,]?\s*{_ARTICLE}{_PAGES}{_END}",
        rf",\s*{_ISSUE},\s*{_ARTICLE}{_PAGES}{_END}",
        rf"(?<![\d(–-]){_VOLUME}{_ISSUE}\s*[:,.;]?\s*{_ARTICLE}{_PAGES}{_END}",
        rf"(?<![\d(:–-]){_VOLUME}\s*:\s*{_ARTICLE}{_PAGES}{_END}",
        rf"(?<=[\s,.a-z]){_VOLUME}\s*,\s*{_ARTICLE}{_PAGES}{_END}",
        rf"[;]\s*{_VOLUME}{_ISSUE}?{_END}",
        rf"(?<=[a-z.,]\s){_VOLUME}{_ISSUE}(?=[\s.,;]*(?:$|\())",
        r"(?:\bpp?\.\s?)" + _PAGES + _END,
        rf"(?:(?<=[A-Za-z)]),|\(\s+\))\s*(?P<pages>(?:{_PAGE})\s*[-–—‐‑−]\s*(?:{_PAGE})|[A-Za-z]?\d{{4,}})[\s.,]*(?:\(\s*\))?[\s.,]*$",
        rf"(?<=[A-Za-z]\s){_VOLUME}[\s.,;]*(?=$|\((?:1[89]|20)\d\d\))",
    )
)


@dataclass(frozen=True, slots=True)
class Imprint:
    """What was found, and where: `year_at` and `numbers_at` are spans in the text, (-1, -1) for none."""

    year: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    year_at: tuple[int, int] = (-1, -1)
    numbers_at: tuple[int, int] = (-1, -1)


def imprint_in(text: str, start: int) -> Imprint:
    """Find them behind `start`, where the authors end."""
    year = _AT_ONCE.match(text, start) or _first(_YEARS, text, start)
    without = f"{text[: year.start('year')]}    {text[year.end('year') :]}" if year else text
    numbers = _last_numbers(without, start)
    found = numbers.groupdict() if numbers else {}
    return Imprint(
        year=year["year"] if year else "",
        volume=(found.get("volume") or "").strip(),
        issue=_numbered(found.get("issue") or found.get("issue2") or ""),
        pages=(found.get("pages") or "").strip(" ."),
        year_at=_span_of(year, text) if year else (-1, -1),
        numbers_at=numbers.span() if numbers else (-1, -1),
    )


def _numbered(issue: str) -> str:
    """The issue; "" for a month."""
    return issue.strip() if re.search(r"\d|[Ss]up", issue) else ""


def _first(patterns: tuple[re.Pattern[str], ...], text: str, start: int) -> re.Match[str] | None:
    """The match of the first pattern that has one: the last one of it, but the first of a year in brackets."""
    for place, pattern in enumerate(patterns):
        found = list(pattern.finditer(text, start))
        if found:
            return found[0] if place == 0 else found[-1]
    return None


def _last_numbers(text: str, start: int) -> re.Match[str] | None:
    """The last match of the first pattern that has one."""
    found = (list(pattern.finditer(text, start)) for pattern in _NUMBERS)
    return next((each[-1] for each in found if each), None)


def _span_of(year: re.Match[str], text: str) -> tuple[int, int]:
    """From the year, or its opening bracket, to the end of the date."""
    start = year.start("year")
    bracket = text.rfind("(", year.start(), start)
    return (bracket if bracket >= 0 else start), year.end()
