"""Article/Journal and MedlineJournalInfo: two elements that describe one journal."""

from collections.abc import Iterable
from typing import Any

from lxml import etree

from bio_mcp.literature.medline.dates import printed
from bio_mcp.literature.medline.markup import leaf, plain
from bio_mcp.literature.records import Article, Journal

Fields = tuple[tuple[str, Any], ...]
"""Names of fields with their values, as an element gives them."""

OF_JOURNAL = {"Title": "title", "ISOAbbreviation": "iso_abbreviation"}
OF_ISSUE = {"Volume": "volume", "Issue": "issue"}
OF_NLM = {
    "Country": "country",
    "MedlineTA": "medline_abbreviation",
    "NlmUniqueID": "nlm_id",
    "ISSNLinking": "issn_l",
}


def journal(article: Article, element: etree._Element) -> None:
    """Set title, ISSN as cited, volume, issue and the date of the issue."""
    set_journal(article, journal_fields(element))
    for child in element.iterchildren("JournalIssue"):
        set_issue(article, *issue_fields(child))


def journal_info(article: Article, element: etree._Element) -> None:
    """Set what NLM's catalogue knows: NLM id, linking ISSN, MEDLINE abbreviation, country."""
    set_journal(article, info_fields(element))


def set_journal(article: Article, fields: Fields) -> None:
    """Set fields of the article's journal."""
    if article.journal is None:
        article.journal = Journal()
    _set(article.journal, fields)


def set_issue(article: Article, of_journal: Fields, of_article: Fields) -> None:
    """Set what JournalIssue says about the journal and about the article."""
    set_journal(article, of_journal)
    _set(article, of_article)


def journal_fields(element: etree._Element) -> Fields:
    """What Journal says, but for its JournalIssue."""
    fields: list[tuple[str, Any]] = []
    for child in element:
        if child.tag == "ISSN":
            fields += ("issn", leaf(child)), ("issn_type", child.get("IssnType"))
        elif child.tag in OF_JOURNAL:
            fields.append((OF_JOURNAL[child.tag], plain(child) or None))
    return tuple(fields)


def info_fields(element: etree._Element) -> Fields:
    """What MedlineJournalInfo says."""
    return tuple([(OF_NLM[child.tag], leaf(child)) for child in element if child.tag in OF_NLM])


def issue_fields(element: etree._Element) -> tuple[Fields, Fields]:
    """What JournalIssue says about the journal, and about the article."""
    of_journal = tuple([(OF_ISSUE[child.tag], leaf(child)) for child in element if child.tag in OF_ISSUE])
    dates = tuple([("publication_date", printed(child)) for child in element.iterchildren("PubDate")])
    return of_journal, dates


def _set(target: Article | Journal, fields: Iterable[tuple[str, Any]]) -> None:
    for name, value in fields:
        setattr(target, name, value)
