"""An article's text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Licence:
    """What the article may be used for, in its own words. `name` is short ("CC BY 4.0") where it is a known one."""

    name: str = ""
    url: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """`rows`: cells joined by " | ", a line each, the head first. `note` is what stands below it."""

    label: str
    caption: str
    rows: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section without its subsections, which follow it with a higher `level` (the top is 1)."""

    title: str
    level: int
    text: str
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class FullText:
    """`withheld`: the publisher does not let PubMed Central give the text away; then there is at most an abstract."""

    pmcid: str | None
    pmid: str | None
    doi: str | None
    title: str
    journal: str
    licence: Licence
    sections: tuple[TextSection, ...]
    withheld: bool
    references: int = 0
