"""Article/Journal and MedlineJournalInfo: two elements that describe one journal."""

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
    """Set title, ISSN as cited, volume, issue and the date of the issue."""
    target = _journal_of(article)
    for child in element:
        tag = child.tag
        if tag == "JournalIssue":
            _issue(article, target, child)
        elif tag == "ISSN":
            target.issn, target.issn_type = leaf(child), child.get("IssnType")
        elif tag in _OF_JOURNAL:
            setattr(target, _OF_JOURNAL[tag], plain(child) or None)


def journal_info(article: Article, element: etree._Element) -> None:
    """Set what NLM's catalogue knows: NLM id, linking ISSN, MEDLINE abbreviation, country."""
    target = _journal_of(article)
    for child in element:
        if child.tag in _OF_NLM:
            setattr(target, _OF_NLM[child.tag], leaf(child))


def _issue(article: Article, target: Journal, element: etree._Element) -> None:
    for child in element:
        tag = child.tag
        if tag == "PubDate":
            article.publication_date = printed(child)
        elif tag in _OF_ISSUE:
            setattr(target, _OF_ISSUE[tag], leaf(child))


def _journal_of(article: Article) -> Journal:
    if article.journal is None:
        article.journal = Journal()
    return article.journal
