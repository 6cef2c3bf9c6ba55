"""Article/Journal and MedlineJournalInfo: two places that describe one journal."""

from lxml import etree

from bio_mcp.literature.medline.dates import printed
from bio_mcp.literature.medline.markup import leaf, plain
from bio_mcp.literature.records import Article, Journal

_OF_JOURNAL = {"Title": "title", "ISOAbbreviation": "iso_abbreviation"}
_OF_ISSUE = {"Volume": "volume", "Issue": "issue"}
_OF_NLM = {
    "Country": "country",
    "MedlineTA": "medline_abbreviation",
    "NlmUniqueID": "nlm_id",
    "ISSNLinking": "issn_l",
}


def journal(article: Article, element: etree._Element) -> None:
    """Title, ISSN as cited, volume, issue and the date of the issue."""
    found = _journal_of(article)
    for child in element:
        tag = child.tag
        if tag == "JournalIssue":
            _issue(article, found, child)
        elif tag == "ISSN":
            found.issn, found.issn_type = leaf(child), child.get("IssnType")
        elif tag in _OF_JOURNAL:
            setattr(found, _OF_JOURNAL[tag], plain(child) or None)


def journal_info(article: Article, element: etree._Element) -> None:
    """What NLM's catalogue says: NLM id, linking ISSN, MEDLINE abbreviation, country."""
    found = _journal_of(article)
    for child in element:
        if child.tag in _OF_NLM:
            setattr(found, _OF_NLM[child.tag], leaf(child))


def _issue(article: Article, found: Journal, element: etree._Element) -> None:
    for child in element:
        tag = child.tag
        if tag == "PubDate":
            article.publication_date = printed(child)
        elif tag in _OF_ISSUE:
            setattr(found, _OF_ISSUE[tag], leaf(child))


def _journal_of(article: Article) -> Journal:
    if article.journal is None:
        article.journal = Journal()
    return article.journal
