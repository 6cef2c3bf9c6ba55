"""Retraction Watch's file, as Crossref publishes it: one row a notice, with the DOI and PMID of the paper."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from bio_mcp.errors import InvalidInput
from bio_mcp.literature import identifiers
from bio_mcp.literature.notices import Notice, kind_of

PAPER, NATURE = "OriginalPaperDOI", "RetractionNature"
SOURCE = "retraction-watch"
LONGEST_FIELD = 1 << 20  # characters
_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})\b", re.ASCII)  # month first, with or without a time of day
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def notices_by_doi(lines: Iterable[str]) -> dict[str, tuple[Notice, ...]]:
    """The notices about each DOI in the file. Rows without a paper's DOI are left out.

    Raises `InvalidInput` for a file that has not Retraction Watch's columns, or is no CSV.
    """
    found: defaultdict[str, list[Notice]] = defaultdict(list)
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        rows = csv.DictReader(lines)
        if not {PAPER, NATURE} <= set(rows.fieldnames or ()):
            raise InvalidInput(f"this is not Retraction Watch's file: it has no columns {PAPER} and {NATURE}")
        for row in rows:
            if doi := _doi(row.get(PAPER)):
                found[doi].append(_notice(row))
    except csv.Error:
        raise InvalidInput("this is not Retraction Watch's file: it cannot be read as CSV") from None
    finally:
        csv.field_size_limit(before)
    return {doi: tuple(sorted(each, key=lambda notice: (notice.date, notice.kind))) for doi, each in found.items()}


def _notice(row: Mapping[str, str | None]) -> Notice:
    nature = (row.get(NATURE) or "").strip()
    return Notice(kind_of(nature), _doi(row.get("RetractionDOI")), _date(row.get("RetractionDate")), nature, SOURCE)


def _doi(text: str | None) -> str | None:
    """The DOI; None for "unavailable" and its like."""
    try:
        return identifiers.doi(text or "")
    except InvalidInput:
        return None


def _date(text: str | None) -> str:
    """The day, as "2019-07-26"; "" for none."""
    if match := _DATE.match((text or "").strip()):
        month, day, year = match.groups()
        return f"{year}-{int(month):02}-{int(day):02}"
    return found[0] if (found := _ISO.match((text or "").strip())) else ""
