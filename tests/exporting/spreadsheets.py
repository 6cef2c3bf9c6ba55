"""Texts that would be formulas in a spreadsheet, were they written as they are."""

from bio_mcp.literature.records import AbstractSection, Article, Author, Journal

SEPARATORS = [",", ";", "\t", "|"]
HOSTILE = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "  =1+1",
    "\u00a0=1+1",
    "\u3000=1+1",
    "\u200b=1+1",
    "\ufeff \u2060=1+1",
    "＝1+1",
    "＋1+1",
    "－1+1",
    "＠SUM(1)",
    '"=1+1',
    '"" =1+1',
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("https://example.org";"x")',
]


def hostile(text):
    """A paper each of whose texts is `text`."""
    return Article(
        "1",
        title=text,
        abstract=(AbstractSection(None, None, text),),
        authors=(Author(last_name=text, fore_name=text), Author(collective_name=text)),
        journal=Journal(title=text, medline_abbreviation=text),
        pages=text,
        keywords=(text, text),
    )
