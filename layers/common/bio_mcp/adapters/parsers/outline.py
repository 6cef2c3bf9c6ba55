"""Collects headings, paragraphs and tables in reading order into sections."""

import re
from collections.abc import Iterable, Sequence

from bio_mcp.literature.layout.section_names import is_references
from bio_mcp.literature.parsed import SEPARATOR, ParsedSection, SectionKind


class Outline:
    """The sections of a document that is read from its beginning to its end."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._texts: list[str] = []
        self._sections: list[ParsedSection] = []
        self._levels: list[int] = []
        self._announced = False

    def heading(self, level: int, text: str) -> None:
        """Begin a section below the last heading of a smaller level."""
        if not (text := " ".join(text.split())):
            return
        self._end()
        self._path = [*(each for each in self._path if each[0] < level), (level, text)]
        self._levels.append(level)
        self._announced = True

    def paragraph(self, text: str) -> None:
        """Add a paragraph to the section."""
        if text := text.strip():
            self._texts.append(text)

    def table(self, rows: Iterable[Sequence[str]], caption: str = "") -> None:
        """Add a table, as a section of its own under the same heading."""
        lines = ["\t".join(" ".join(cell.split()) for cell in row).rstrip() for row in rows]
        if text := "\n".join(filter(None, [caption, *lines])):
            self._end()
            self._add(text, SectionKind.TABLE)

    def sections(self) -> tuple[ParsedSection, ...]:
        """The sections so far; a heading with nothing before the next one has an empty text."""
        self._end()
        return tuple(self._sections)

    @property
    def has_one_title(self) -> bool:
        """Whether the first heading is of the highest level and stands above all others, as a title does."""
        return self._levels[:1] == [1] and 1 not in self._levels[1:]

    def _end(self) -> None:
        if self._texts or self._announced:
            self._add(SEPARATOR.join(self._texts), SectionKind.BODY)
        self._texts = []

    def _add(self, text: str, kind: SectionKind) -> None:
        path = tuple(heading for _, heading in self._path)
        if any(map(is_references, path)):
            kind = SectionKind.REFERENCES
        self._sections.append(ParsedSection(text, path[-1] if path else None, path, kind=kind))
        self._announced = False


def titled(outline: Outline, known: str | None = None) -> tuple[str | None, tuple[ParsedSection, ...]]:
    """The document's title and its sections.

    A heading above all others that is the title, or the only title there is, names no section: the paths begin below
    it, and the text under it stands under no heading.
    """
    sections = outline.sections()
    headings = [each.path for each in sections if each.path]
    if not outline.has_one_title or not headings or not _is_title(first := headings[0][0], known):
        return known, sections
    return known or first, tuple(_below_title(each, first) for each in sections)


def _is_title(heading: str, known: str | None) -> bool:
    return known is None or _words(heading) == _words(known) or _words(known).startswith(_words(heading))


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _below_title(section: ParsedSection, title: str) -> ParsedSection:
    if section.path[:1] != (title,):
        return section
    path = section.path[1:]
    return ParsedSection(section.text, path[-1] if path else None, path, section.page_starts, section.kind)
