"""Markdown to sections, with the title, DOI, PMID and language that its YAML front matter has."""

import re
from typing import Any

from bio_mcp.adapters.parsers.html import sections_of_html
from bio_mcp.adapters.parsers.outline import titled
from bio_mcp.literature.parsed import ParsedDocument

_FRONT = re.compile(r"\s*---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)


def parse_markdown(text: str) -> ParsedDocument:
    """Read CommonMark with tables."""
    from markdown_it import MarkdownIt

    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT.match(text)
    named = _named(front[1]) if front else None
    body = text[front.end() :] if front and named is not None else text
    outline = sections_of_html(MarkdownIt("commonmark").enable("table").render(body))
    title, sections = titled(outline, _text(named, "title"))
    return ParsedDocument(
        sections,
        title=title,
        doi=_text(named, "doi"),
        pmid=_text(named, "pmid"),
        language=_text(named, "lang") or _text(named, "language"),
    )


def _named(front: str) -> dict[str, Any] | None:
    """What the front matter says; None if it is none, such as text between two rules."""
    import yaml

    try:
        named = yaml.load(front, Loader=yaml.BaseLoader)  # noqa: S506  it makes text, lists and mappings alone
    except yaml.YAMLError:
        return None
    return {str(key).casefold(): value for key, value in named.items()} if isinstance(named, dict) else None


def _text(named: dict[str, Any] | None, key: str) -> str | None:
    value = (named or {}).get(key)
    return value if isinstance(value, str) and value else None
