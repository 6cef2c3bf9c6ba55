"""CSV (RFC 4180): a row for each paper, lists joined by semicolons."""

import csv
import io

from bio_mcp.exporting.records import Record
from bio_mcp.literature.citing import dates, names, pages
from bio_mcp.literature.citing.notices import nlm
from bio_mcp.literature.citing.works import Work, work

COLUMNS = (
    "pmid", "doi", "pmcid", "title", "authors", "year", "date", "journal", "journal_abbreviation", "volume", "issue",
    "pages", "issn", "abstract", "mesh", "keywords", "publication_types", "language", "retraction", "notices", "url",
    "included",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def _row(cells: tuple[str, ...] | list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue()


HEAD = _row(COLUMNS)


def render(record: Record) -> str:
    """The paper as a row. A text that a spreadsheet would run as a formula is led by an apostrophe."""
    cited = work(record.article)
    cells = _bibliographic(cited) | _content(record) | {"notices": "; ".join(nlm(cited)), "url": cited.url}
    return _row([_inert(" ".join(cells[name].split())) for name in COLUMNS])


def _bibliographic(cited: Work) -> dict[str, str]:
    article, journal = cited.article, cited.article.journal
    return {
        "pmid": article.pmid,
        "doi": article.doi or "",
        "pmcid": article.pmcid or "",
        "title": cited.title,
        "authors": "; ".join(map(names.inverted, cited.authors)),
        "year": str(cited.issued.year) if cited.issued and cited.issued.year else "",
        "date": dates.nlm_date(cited.issued),
        "journal": cited.container,
        "journal_abbreviation": cited.abbreviation,
        "volume": cited.volume,
        "issue": cited.issue,
        "pages": cited.number or pages.full(cited.page),
        "issn": (journal and (journal.issn or journal.issn_l)) or "",
        "language": cited.language,
    }


def _content(record: Record) -> dict[str, str]:
    return {
        "abstract": record.abstract,
        "mesh": "; ".join(record.headings),
        "keywords": "; ".join(record.article.keywords),
        "publication_types": "; ".join(each.name for each in record.article.publication_types),
        "retraction": record.article.retraction.value,
        "included": "" if record.included is None else str(int(record.included)),
    }


def _inert(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
