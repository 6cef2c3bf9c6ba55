"""A reference as somebody wrote it, whatever the format of the file."""

import re
from dataclasses import dataclass, fields
from typing import Literal

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.descriptions import normal
from bio_mcp.literature.identifiers import doi, parse_pmid, pmcid

Kind = Literal["article", "preprint", "other"]
LONGEST = 4_000  # characters of one field; a reference that is longer is cut
MOST = 2_000  # references of one file
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A reference. "" for what it does not state; ids are in their normal form.

    `authors` are as written, a person each. `etal`: there are more. `kind` other: a book, a web page, a data set and
    what else PubMed rarely has. `text` is the reference in one line where it was plain text; then the fields are
    guesses. `key` is its key or number in the list, `line` its first line in the file, from 1.
    """

    title: str = ""
    authors: tuple[str, ...] = ()
    journal: str = ""
    year: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    doi: str = ""
    pmid: str = ""
    pmcid: str = ""
    kind: Kind = "article"
    etal: bool = False
    text: str = ""
    key: str = ""
    line: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether it states nothing to look for."""
        stated = (self.title, self.journal, self.doi, self.pmid, self.pmcid, *self.authors)
        return not any(stated)

    @property
    def shown(self) -> str:
        """The reference in one line, for people."""
        if self.text:
            return self.text
        who = f"{self.authors[0]}{' et al' if len(self.authors) > 1 else ''}" if self.authors else ""
        where = " ".join(filter(None, (self.journal, self.year)))
        ids = self.pmid and f"PMID {self.pmid}"
        return (
            ". ".join(filter(None, (who, self.title.rstrip("."), where))) or self.doi or ids or self.pmcid or self.key
        )


def work(**stated: object) -> CitedWork:
    """The reference with its fields in one line each, bounded, and ids in their normal form; others are dropped."""
    found = {name: _line(value) if isinstance(value, str) else value for name, value in stated.items()}
    found["authors"] = tuple(filter(None, (_line(str(each)) for each in stated.get("authors") or ())))[:500]  # type: ignore[attr-defined]
    for name in ("title", "journal"):
        found[name] = text if re.search(r"[^\W\d_]{2}", text := str(found.get(name) or "")) else ""
    found["year"] = year_in(str(stated.get("year") or ""))
    for name, read in (("doi", doi), ("pmid", parse_pmid), ("pmcid", pmcid)):
        found[name] = normal(read, stated.get(name)) or ""
    known = {each.name for each in fields(CitedWork)}
    return CitedWork(**{name: value for name, value in found.items() if name in known})  # type: ignore[arg-type]


def year_in(text: str) -> str:
    """The first year in `text`; "" without one."""
    found = _YEAR.search(text)
    return found[1] if found else ""


def refuse_too_many(count: int) -> None:
    """Raise `InvalidInput` where a file has more references than are read."""
    if count > MOST:
        raise InvalidInput(f"more than {MOST:,} references in one file; split it")


def _line(text: str) -> str:
    return " ".join(text[: 4 * LONGEST].split())[:LONGEST]
