"""Readers of sections from their bytes. Each does what the reader of the same tag in `citations` does.

They raise `Irregular`, before they set anything, for a section that they cannot read.
"""

from collections.abc import Callable
from typing import Any

from bio_mcp.literature.medline import journals
from bio_mcp.literature.medline.citations import set_pmid
from bio_mcp.literature.medline.linking import set_location_id, set_own_ids
from bio_mcp.literature.medline.markup import Attributes
from bio_mcp.literature.medline.people import is_complete
from bio_mcp.literature.medline.regular.abstracts import abstract_and_copyright
from bio_mcp.literature.medline.regular.lists import (
    CHEMICALS,
    GRANTS,
    HEADINGS,
    HISTORY_DATES,
    TYPES,
    ids,
    keyword_texts,
)
from bio_mcp.literature.medline.regular.people import authors
from bio_mcp.literature.medline.regular.printing import DATES, DAYS, JOURNAL_INFOS, JOURNALS, WORDS, page_range
from bio_mcp.literature.medline.regular.references import references
from bio_mcp.literature.medline.regular.texts import leaf_text, plain_text
from bio_mcp.literature.records import Article

FieldReader = Callable[[Article, Attributes, str], None]
"""Takes the article, the section's attributes and its content."""


def _set_to(name: str, value: Callable[[str], Any]) -> FieldReader:
    """Make a reader that sets the attribute `name` to `value(content)`."""

    def into(record: Article, _: Attributes, inner: str) -> None:
        setattr(record, name, value(inner))

    return into


def _pmid(record: Article, attributes: Attributes, inner: str) -> None:
    set_pmid(record, attributes, leaf_text(inner))


def _journal(record: Article, _: Attributes, inner: str) -> None:
    journals.set_issue(record, *JOURNALS[inner])


def _journal_info(record: Article, _: Attributes, inner: str) -> None:
    journals.set_journal(record, JOURNAL_INFOS[inner])


def _location_id(record: Article, attributes: Attributes, inner: str) -> None:
    set_location_id(record, attributes, leaf_text(inner))


def _abstract(record: Article, _: Attributes, inner: str) -> None:
    record.abstract, record.copyright = abstract_and_copyright(inner)


def _authors(record: Article, attributes: Attributes, inner: str) -> None:
    record.authors += tuple(authors(inner))
    record.authors_complete = is_complete(attributes)


def _language(record: Article, _: Attributes, inner: str) -> None:
    word = WORDS[inner]
    if word:
        record.languages += (word,)


def _article_date(record: Article, attributes: Attributes, inner: str) -> None:
    day = DATES[inner]
    if attributes.get("DateType") in (None, "Electronic") and record.electronic_date is None:
        record.electronic_date = day


def _keywords(record: Article, _: Attributes, inner: str) -> None:
    record.keywords += tuple(filter(None, keyword_texts(inner)))


def _history(record: Article, _: Attributes, inner: str) -> None:
    for name, value in HISTORY_DATES(inner):
        if name:
            setattr(record, name, value)


def _own_ids(record: Article, _: Attributes, inner: str) -> None:
    set_own_ids(record, ids(inner))


def _references(record: Article, _: Attributes, inner: str) -> None:
    record.references += tuple(references(inner))


def _title(inner: str) -> str | None:
    return plain_text(inner) or None


OF_ARTICLE: dict[str, FieldReader] = {
    "Journal": _journal,
    "ArticleTitle": _set_to("title", _title),
    "VernacularTitle": _set_to("vernacular_title", _title),
    "Pagination": _set_to("pages", page_range),
    "ELocationID": _location_id,
    "Abstract": _abstract,
    "AuthorList": _authors,
    "Language": _language,
    "GrantList": _set_to("grants", lambda inner: tuple(GRANTS(inner))),
    "PublicationTypeList": _set_to("publication_types", TYPES.__getitem__),
    "ArticleDate": _article_date,
}
OF_CITATION: dict[str, FieldReader] = {
    "PMID": _pmid,
    "DateCompleted": _set_to("date_completed", DAYS.__getitem__),
    "DateRevised": _set_to("date_revised", DAYS.__getitem__),
    "MedlineJournalInfo": _journal_info,
    "ChemicalList": _set_to("chemicals", lambda inner: tuple(CHEMICALS(inner))),
    "MeshHeadingList": _set_to("mesh", lambda inner: tuple([each for each in HEADINGS(inner) if each])),
    "KeywordList": _keywords,
}
OF_PUBMED_DATA: dict[str, FieldReader] = {
    "History": _history,
    "ArticleIdList": _own_ids,
    "ReferenceList": _references,
    "PublicationStatus": _set_to("publication_status", WORDS.__getitem__),
}
