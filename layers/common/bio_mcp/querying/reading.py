"""Show an article's text within a budget of characters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bio_mcp.literature.jats import Table, TextSection

_LEAST_SHOWN = 200  # characters below which the beginning of a section is not worth showing


@dataclass(frozen=True, slots=True)
class Shown:
    """The sections that fit. `cut` is the title of the last if it is not whole, `left_out` the titles of the rest."""

    sections: tuple[TextSection, ...]
    cut: str | None
    left_out: tuple[str, ...]


def choose(sections: Sequence[TextSection], titles: Sequence[str]) -> list[TextSection]:
    """The sections whose title, or a parent's title, contains one of `titles` in any case; all when none is given."""
    wanted = [title.casefold() for title in titles]
    chosen: list[TextSection] = []
    inside = 0  # level of the chosen section that we are in
    for section in sections:
        if inside and section.level <= inside:
            inside = 0
        if not wanted or inside or any(title in section.title.casefold() for title in wanted):
            chosen.append(section)
            inside = inside or section.level
    return chosen


def fit(sections: Sequence[TextSection], budget: int, with_tables: bool) -> Shown:
    """The first sections that fit in `budget` characters, tables included; the first that does not fit is cut."""
    shown: list[TextSection] = []
    left, cut = budget, None
    for place, section in enumerate(sections):
        own = section if with_tables else replace(section, tables=())
        size = length(own)
        if size <= left:
            shown.append(own)
            left -= size
            continue
        if left > _LEAST_SHOWN or not shown:
            shown.append(_cut(own, left))
            cut, place = section.title, place + 1
        return Shown(tuple(shown), cut, tuple(each.title for each in sections[place:]))
    return Shown(tuple(shown), None, ())


def length(section: TextSection) -> int:
    """Characters of a section, its tables included."""
    return len(section.title) + len(section.text) + sum(map(_size, section.tables))


def _size(table: Table) -> int:
    return len(table.label) + len(table.caption) + len(table.note) + sum(len(row) + 1 for row in table.rows)


def _cut(section: TextSection, left: int) -> TextSection:
    """Cut the text at the last whole sentence, or word, that fits; then add the tables that still fit."""
    text = section.text
    left = max(left - len(section.title), 1)
    if len(text) > left:
        head = text[:left]
        at = max(head.rfind(". ") + 1, head.rfind("\n")) if left > _LEAST_SHOWN else 0
        text = head[: at if at > left // 2 else max(head.rfind(" "), 1)].rstrip()
    left -= len(text)
    tables: list[Table] = []
    for table in section.tables:
        if _size(table) > left or len(text) < len(section.text):
            break
        tables.append(table)
        left -= _size(table)
    return replace(section, text=text, tables=tuple(tables))
