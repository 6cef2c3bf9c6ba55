"""What a database exports of a search: RIS, NBIB, BibTeX, CSL-JSON, or a table (CSV, or with tabs or semicolons)."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.references.files import READERS, Places, chosen, format_of
from bio_mcp.literature.references.works import CitedWork, refuse_too_many, work

LARGEST = 100_000_000  # characters
_HEAD = 20  # lines in which a table names its columns
NO_EXPORT = "no records found; give RIS, NBIB, BibTeX, CSL-JSON, or a table (CSV) of which a column is the title"
_CELL = 1_000_000  # characters; Scopus lists all references of a paper in one


@dataclass(frozen=True, slots=True)
class Export:
    """The records of an export. `database` is where they are from and `term` what was searched, "" where the file does
    not say; `unreadable` counts entries that state nothing."""

    works: Sequence[CitedWork]
    database: str = ""
    term: str = ""
    unreadable: int = 0


def read_export(text: str, most: int) -> Export:
    """Read an export of `most` records at most. Raises `InvalidInput` for more, and for a text that is none."""
    if len(text) > LARGEST:
        raise InvalidInput(f"more than {LARGEST:,} characters; split the file")
    text = text.lstrip("\ufeff")
    form = format_of(text)
    if form == "text":
        export = _table(text, most)
    else:
        database = next((name for name, sign in _SIGNS if sign.search(text[:200_000])), "")
        export = Export(READERS[form](text, most), database)
    works = [each for each in export.works if not each.is_empty]
    if not works:
        raise InvalidInput(NO_EXPORT)
    return Export(works, export.database, export.term, len(export.works) - len(works))


_SIGNS = (
    ("PubMed", re.compile(r"^PMID- *\d", re.MULTILINE)),
    ("CENTRAL", re.compile(r"^(?:AN|ID)  ?- {1,2}CN-\d", re.MULTILINE)),
    ("Embase", re.compile(r"^DB  - Embase", re.MULTILINE)),
    ("Scopus", re.compile(r"^DB  - Scopus|^UR  - https://www\.scopus\.com/|source *= *\{Scopus\}", re.MULTILINE)),
    ("Web of Science", re.compile(r"^AN  - WOS:|^ *Unique-ID *= *\{+(?:WOS|ISI):", re.MULTILINE)),
)
"""By what a file with tags shows where it is from."""

_OF_DATABASE: Mapping[str, frozenset[str]] = {
    "CENTRAL": frozenset({"centralid"}),
    "Embase": frozenset({"embaselink"}),
    "Scopus": frozenset({"eid", "sourcetitle"}),
    "Web of Science": frozenset({"utuniquewosid"}),
    "PubMed": frozenset({"nihmsid", "createdate"}),
}
"""The columns by which a table shows it."""
_COLUMNS: Places = {
    "title": ("title", "articletitle", "documenttitle", "primarytitle", "ti"),
    "journal": ("sourcetitle", "journal", "journalbook", "publicationtitle", "journaltitle", "source", "so"),
    "year": ("publicationyear", "year", "publishedyear", "py", "publicationdate", "date"),
    "volume": ("volume", "vl"),
    "issue": ("issue", "is"),
    "pages": ("pages",),
    "doi": ("doi", "di"),
    "pmid": ("pubmedid", "medlinepmid", "pmid", "pm"),
    "pmcid": ("pmcid",),
    "abstract": ("abstract", "abstractnote", "ab"),
    "key": ("embaseaccessionid", "centralid", "eid", "utuniquewosid", "ut", "key"),
}
_PEOPLE = ("authors", "authornames", "author", "au")
_KEYWORDS = ("authorkeywords", "keywords", "manualtags", "de")
_FIRST = ("firstpage", "pagestart", "startpage", "bp")
_LAST = ("lastpage", "pageend", "endpage", "ep")
_NUMBER = ("artno", "articlenumber", "ar")


def _table(text: str, most: int) -> Export:
    """The rows of a table. Raises `InvalidInput` where no line names its columns."""
    csv.field_size_limit(_CELL)
    rows = _rows(text)
    before: list[list[str]] = []
    for row in islice(rows, _HEAD):
        names = [_column(each) for each in row]
        if len(row) > 1 and not {*_COLUMNS["title"]}.isdisjoint(names):
            break
        before.append(row)
    else:
        raise InvalidInput(NO_EXPORT)
    works: list[CitedWork] = []
    for line, cells in enumerate(rows, len(before) + 2):
        if any(map(str.strip, cells)):
            refuse_too_many(len(works) + 1, most)
            works.append(_of_row(dict(zip(names, cells, strict=False)), line))
    database = next((name for name, signs in _OF_DATABASE.items() if signs <= {*names}), "")
    searched = next((row[1] for row in before if len(row) > 1 and _column(row[0]) == "searchquery"), "")
    return Export(works, database, searched)


def _rows(text: str) -> Iterator[list[str]]:
    """The rows, by the separator of which the first lines have most. Raises `InvalidInput` for what is no table."""
    head = "\n".join(text.splitlines()[:_HEAD])
    separator = max(",;\t", key=head.count)
    try:
        yield from csv.reader(text.splitlines(keepends=True), delimiter=separator)
    except csv.Error:
        raise InvalidInput("the table cannot be read: a quotation mark does not end, or a cell is too long") from None


def _column(name: str) -> str:
    """`Author(s)` is `authors`."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _of_row(cells: Mapping[str, str], line: int) -> CitedWork:
    def one(names: Iterable[str]) -> str:
        return next((cell for name in names if (cell := cells.get(name, "").strip())), "")

    fields = chosen(_COLUMNS, _getter(cells))
    first, last = one(_FIRST), one(_LAST)
    fields["pages"] = fields["pages"] or (f"{first}-{last}" if first and last else first or one(_NUMBER))
    fields["pmid"] = fields["pmid"].removesuffix(".0").removeprefix("PUBMED ")  # as a spreadsheet writes numbers
    keywords = one(_KEYWORDS)
    return work(
        **fields,
        authors=_people(one(_PEOPLE)),
        keywords=keywords.split(";" if ";" in keywords else ","),
        line=line,
    )


def _getter(cells: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: cells.get(name, "").strip()


_GIVEN = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,5}|[^\W\d_]+\.?(?: [^\W\d_]\.?)*")


def _people(text: str) -> list[str]:
    """`Yang, Z.; Jiang, B.`, `Yang, Z. and Jiang, B.`, `Yang Z., Jiang B.` or `Griffin DK, Larkin DM.`"""
    for separator in (";", " and ", "|"):
        if separator in text:
            return text.split(separator)
    pieces = [each.strip() for each in text.split(",")]
    if len(pieces) == 2 and " " not in pieces[0] and _GIVEN.fullmatch(pieces[1]):
        return [text]  # one person: `Yang, Zixiao`
    return [each.removesuffix(".") if not re.search(r"\b\w\.$", each) else each for each in pieces]
