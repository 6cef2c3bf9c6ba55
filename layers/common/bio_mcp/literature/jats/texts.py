"""The text of an article: sections, tables, licence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Licence:
    """What the article may be used for, in its own words.

    `name` is the short form ("CC BY 4.0") of a Creative Commons licence, "" for any other.
    """

    name: str = ""
    url: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as text. `rows` are lines of cells joined by " | ", the head first. `note` stands below the table."""

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
    """An article of PubMed Central.

    `withheld`: the publisher does not let PubMed Central give the text away, so there is at most an abstract.
    `references` counts the cited works, whose list is left out.
    """

    pmcid: str | None
    pmid: str | None
    doi: str | None
    title: str
    journal: str
    licence: Licence
    sections: tuple[TextSection, ...]
    withheld: bool
    references: int = 0
