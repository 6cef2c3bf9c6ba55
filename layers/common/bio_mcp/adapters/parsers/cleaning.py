"""Takes control characters and marks of direction out of a parsed document, and refuses endless text."""

import re
from collections.abc import Callable
from dataclasses import replace

from bio_mcp.errors import InvalidInput, UnreadableDocument
from bio_mcp.literature import identifiers
from bio_mcp.literature.languages import language_of, two_letters
from bio_mcp.literature.parsed import ParsedDocument, ParsedSection

LONGEST_TEXT = 20_000_000  # characters of a document: some 8,000 pages
MOST_SECTIONS = 50_000
LONGEST_LINE = 500  # characters of a title or heading
_TERMINAL = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-_])"
# C0 but tab and line feed, DEL and C1; soft hyphens, marks of direction and of width; surrogates; non-characters.
_UNSEEN = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    r"\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_REMOVED = re.compile(f"{_TERMINAL}|{_UNSEEN}")


def without_controls(text: str) -> str:
    """`text` without control sequences of terminals and characters that are not seen."""
    return _REMOVED.sub("", text)


def clean(document: ParsedDocument) -> ParsedDocument:
    """Return the document as it may be stored. Raises `UnreadableDocument` for one without text, or with too much."""
    if len(document.sections) > MOST_SECTIONS or sum(len(each.text) for each in document.sections) > LONGEST_TEXT:
        raise UnreadableDocument(
            f"The document has more than {LONGEST_TEXT:,} characters or {MOST_SECTIONS:,} sections; split it."
        )
    sections = tuple(each for each in map(_cleaned, document.sections) if each.text or each.heading)
    if not any(each.text for each in sections):
        raise UnreadableDocument("The document holds no text: it is empty, or holds images alone.")
    return replace(
        document,
        sections=sections,
        language=language_of("\n".join(each.text for each in sections)) or two_letters(document.language or ""),
        title=_line(document.title or "") or None,
        doi=_identifier(identifiers.doi, document.doi),
        pmid=_identifier(identifiers.parse_pmid, document.pmid),
        warnings=tuple(map(_line, document.warnings)),
    )


def _cleaned(section: ParsedSection) -> ParsedSection:
    text = without_controls(section.text)
    starts = section.page_starts
    if len(text) != len(section.text):
        starts = tuple((len(without_controls(section.text[:at])), page) for at, page in starts)
    led = len(text) - len(text.lstrip())
    text = text.strip()
    return replace(
        section,
        text=text,
        heading=_line(section.heading or "") or None,
        path=tuple(filter(None, map(_line, section.path))),
        page_starts=tuple((min(max(at - led, 0), len(text)), page) for at, page in starts),
    )


def _line(text: str) -> str:
    """One line of at most `LONGEST_LINE` characters."""
    line = " ".join(without_controls(text.replace("\n", " ")).split())
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE].rpartition(' ')[0] or line[:LONGEST_LINE]} …"


def _identifier(normalise: Callable[[str], str], text: str | None) -> str | None:
    """The identifier in its normal form; None for what is none."""
    try:
        return normalise(text) if text else None
    except InvalidInput:
        return None
