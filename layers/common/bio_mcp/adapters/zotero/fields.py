"""What Zotero writes as free text: the lines of `extra`, dates, notes in HTML, positions of annotations."""

import json
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any

from bio_mcp.errors import InvalidInput
from bio_mcp.literature import identifiers

_LINE = re.compile(r"\s*([A-Za-z][A-Za-z ]{1,30}?)\*?\s*:\s*(\S.*?)\s*")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_BLOCKS = {"p", "div", "li", "br", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "tr"}
_SPACES = re.compile(r"[^\S\n]+")


def extra_lines(extra: str) -> dict[str, str]:
    """The lines `Name: value` of an item's `extra` by lower-case name without spaces; the first of a name counts."""
    found: dict[str, str] = {}
    for line in extra.splitlines():
        if match := _LINE.fullmatch(line):
            found.setdefault(match[1].lower().replace(" ", ""), match[2])
    return found


def normal(read: Callable[[str], str], text: str | None) -> str | None:
    """The identifier as `read` normalises it; None for what is none."""
    try:
        return read(text) if text else None
    except InvalidInput:
        return None


def doi(fields: Mapping[str, Any], extra: Mapping[str, str]) -> str | None:
    """The DOI, from its field, `extra`, or an address at doi.org."""
    url = str(fields.get("url") or "")
    stated = fields.get("DOI") or extra.get("doi") or (url if "doi.org/" in url else None)
    return normal(identifiers.doi, stated)


def year(date: str | None) -> int | None:
    """The year in a date as somebody typed it; None without one."""
    match = _YEAR.search(date or "")
    return int(match[0]) if match else None


def page_of(position: Mapping[str, Any]) -> int | None:
    """The page of an annotation's position, counted from 1; None in a file without pages."""
    index = position.get("pageIndex")
    return index + 1 if isinstance(index, int) and index >= 0 else None


def position(text: Any) -> dict[str, Any]:
    """An annotation's position, which Zotero stores as JSON; empty for what is none."""
    try:
        read = json.loads(text) if isinstance(text, str) and text else {}
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def plain(html: str) -> str:
    """A note's text without its markup: paragraphs parted by an empty line."""
    reader = _Text()
    reader.feed(html)
    reader.close()
    lines = (_SPACES.sub(" ", line).strip() for line in "".join(reader.parts).split("\n"))
    return "\n\n".join(filter(None, lines))


class _Text(HTMLParser):
    """Collects text; a block begins and ends a line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style") and self._hidden > 0
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data.replace("\n", " "))
