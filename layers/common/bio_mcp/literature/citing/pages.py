"""Page ranges. NLM abbreviates them (`737-8`); other styles expand them. Article numbers are not pages."""

import re
from dataclasses import dataclass

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


def full(printed: str | None, dash: str = "-") -> str:
    """Ranges with both numbers in full: `737-738, 741`. `dash` joins them."""
    return ", ".join(f"{span.first}{dash}{span.last}" if span.last else span.first for span in spans(printed))


def mla(printed: str | None) -> str:
    """MLA's ranges: the last two digits of the second number, more where needed: `737-38`, `1003-05`, `923-1003`."""
    return ", ".join(f"{span.first}-{_shortened(span)}" if span.last else span.first for span in spans(printed))


def labelled(pages: str, dash: str) -> str:
    """`p. 737` or `pp. 737-38`; "" without pages. `dash` is the one that they are printed with."""
    return f"{'pp.' if dash in pages or ',' in pages else 'p.'} {pages}" if pages else ""


def nlm(printed: str | None) -> str:
    """NLM's abbreviated ranges: `737-8`, `1715-7`, `e1-12`; "; discussion 740" stays."""
    main, mark, rest = (printed or "").partition(";")
    if main.startswith("["):
        return printed or ""
    short = ", ".join(f"{span.first}-{_abbreviated(span)}" if span.last else span.first for span in spans(main))
    return short + mark + rest


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


def _shortened(span: Span) -> str:
    """MLA's second number: at least two digits, and from the first that differs."""
    first, last = span.first, span.last
    if not (first.isdigit() and last.isdigit()) or len(first) != len(last) or len(first) < 3:
        return last
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=True)) if a != b), len(first))
    return last[min(same, len(last) - 2) :]
