"""PubmedArticle -> Article: one pass over each level, the child's tag choosing what reads it."""

from collections.abc import Callable
from typing import Any

from lxml import etree

from bio_mcp.literature.medline import indexing, linking, people
from bio_mcp.literature.medline.abstracts import copyright_line, other_abstract, sections
from bio_mcp.literature.medline.dates import calendar_day, printed, stamp
from bio_mcp.literature.medline.journals import journal, journal_info
from bio_mcp.literature.medline.limits import checked, version_of
from bio_mcp.literature.medline.markup import leaf, plain
from bio_mcp.literature.medline.retraction_status import standing
from bio_mcp.literature.records import Article

Reader = Callable[[Article, etree._Element], None]
Readers = dict[Any, Reader]  # Any: lxml types a tag as the union of everything that a node can have for one

_HISTORY = {"pubmed": "edat", "entrez": "crdt", "medline": "mhda"}


def article(element: etree._Element) -> Article:
    """One PubmedArticle. Raises `OddRecord` for one that PubMed cannot have made."""
    found = Article("")
    read(found, element, _RECORD)
    return settled(found)


def read(found: Article, element: etree._Element, readers: Readers) -> None:
    """Hand every child to the reader of its tag; children that nobody reads are left."""
    for child in element:
        reader = readers.get(child.tag)
        if reader is not None:
            reader(found, child)


def settled(found: Article) -> Article:
    """The article with what only the whole record decides: its title and whether it stands."""
    checked(found)
    if not found.title:
        found.title = found.vernacular_title
    found.retraction = standing(found.publication_types, found.corrections)
    return found


def below(readers: Readers) -> Reader:
    """A reader that hands the element's children to `readers`."""

    def into(found: Article, element: etree._Element) -> None:
        read(found, element, readers)

    return into


def pmid(found: Article, element: etree._Element) -> None:
    """The record's PMID and version."""
    found.pmid = leaf(element) or ""
    found.pmid_version = version_of(element.get("Version"))


def set_to(name: str, value: Callable[[etree._Element], Any]) -> Reader:
    """A reader that sets one attribute."""

    def into(found: Article, element: etree._Element) -> None:
        setattr(found, name, value(element))

    return into


def text_or_none(element: etree._Element) -> str | None:
    """Mixed content as plain text, None when empty."""
    return plain(element) or None


def abstract(found: Article, element: etree._Element) -> None:
    """Abstract and its copyright line."""
    found.abstract = sections(element)
    found.copyright = copyright_line(element)


def authors(found: Article, element: etree._Element) -> None:
    """AuthorList and whether it is complete."""
    found.authors += people.people(element)
    found.authors_complete = people.complete(element)


def investigators(found: Article, element: etree._Element) -> None:
    """InvestigatorList: contributors to a group, not authors."""
    found.investigators += people.people(element)


def language(found: Article, element: etree._Element) -> None:
    """One Language, a MARC code."""
    text = leaf(element)
    if text:
        found.languages += (text,)


def keywords(found: Article, element: etree._Element) -> None:
    """One KeywordList; a record can have one of each owner."""
    found.keywords += tuple(indexing.keywords(element))


def references(found: Article, element: etree._Element) -> None:
    """One ReferenceList."""
    found.references += tuple(linking.references(element))


def pagination(found: Article, element: etree._Element) -> None:
    """Pages as printed; StartPage and EndPage only where no MedlinePgn is given."""
    parts = {child.tag: leaf(child) for child in element}
    start, end = parts.get("StartPage"), parts.get("EndPage")
    found.pages = parts.get("MedlinePgn") or (f"{start}-{end}" if start and end else start)


def history(found: Article, element: etree._Element) -> None:
    """The three Entrez dates. `pubmed` is EDAT and `entrez` is CRDT, whatever their names suggest."""
    for child in element:
        name = _HISTORY.get(child.get("PubStatus", ""))
        if name:
            setattr(found, name, stamp(child))


def _citation(found: Article, element: etree._Element) -> None:
    found.status = element.get("Status")
    read(found, element, _CITATION)


def _article(found: Article, element: etree._Element) -> None:
    found.publication_model = element.get("PubModel")
    read(found, element, _ARTICLE)


def _article_date(found: Article, element: etree._Element) -> None:
    if element.get("DateType", "Electronic") == "Electronic" and found.electronic_date is None:
        found.electronic_date = printed(element)


def _other_abstract(found: Article, element: etree._Element) -> None:
    found.other_abstracts += (other_abstract(element),)


_ARTICLE: Readers = {
    "Journal": journal,
    "ArticleTitle": set_to("title", text_or_none),
    "VernacularTitle": set_to("vernacular_title", text_or_none),
    "Pagination": pagination,
    "ELocationID": linking.located,
    "Abstract": abstract,
    "AuthorList": authors,
    "Language": language,
    "DataBankList": set_to("databanks", indexing.databanks),
    "GrantList": set_to("grants", indexing.grants),
    "PublicationTypeList": set_to("publication_types", indexing.publication_types),
    "ArticleDate": _article_date,
}
_CITATION: Readers = {
    "PMID": pmid,
    "DateCompleted": set_to("date_completed", calendar_day),
    "DateRevised": set_to("date_revised", calendar_day),
    "Article": _article,
    "MedlineJournalInfo": journal_info,
    "ChemicalList": set_to("chemicals", indexing.chemicals),
    "CommentsCorrectionsList": set_to("corrections", linking.corrections),
    "MeshHeadingList": set_to("mesh", indexing.mesh_headings),
    "OtherAbstract": _other_abstract,
    "KeywordList": keywords,
    "InvestigatorList": investigators,
}
_PUBMED_DATA: Readers = {
    "History": history,
    "ArticleIdList": linking.own_ids,
    "ReferenceList": references,
    "PublicationStatus": set_to("publication_status", leaf),
}
_RECORD: Readers = {"MedlineCitation": _citation, "PubmedData": below(_PUBMED_DATA)}
