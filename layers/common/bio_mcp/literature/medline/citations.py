"""PubmedArticle to Article. One pass over each level; the tag of a child selects its reader."""

from collections.abc import Callable
from typing import Any

from lxml import etree

from bio_mcp.literature.medline import indexing, linking, people
from bio_mcp.literature.medline.abstracts import copyright_line, other_abstract, sections
from bio_mcp.literature.medline.dates import calendar_day, printed, stamp
from bio_mcp.literature.medline.journals import journal, journal_info
from bio_mcp.literature.medline.limits import check_record, version_of
from bio_mcp.literature.medline.markup import Attributes, leaf, plain
from bio_mcp.literature.medline.retraction_status import retraction_status
from bio_mcp.literature.records import Article

Reader = Callable[[Article, etree._Element], None]
Readers = dict[Any, Reader]  # Any: lxml types a tag as the union of everything that a node can have for one

HISTORY = {"pubmed": "edat", "entrez": "crdt", "medline": "mhda"}


def article(element: etree._Element) -> Article:
    """Read one PubmedArticle. Raises `OddRecord` for one that PubMed cannot have made."""
    record = Article("")
    read(record, element, RECORD)
    return finish_record(record)


def read(record: Article, element: etree._Element, readers: Readers) -> None:
    """Hand every child of `element` to the reader of its tag; children without a reader are skipped."""
    for child in element:
        reader = readers.get(child.tag)
        if reader is not None:
            reader(record, child)


def finish_record(record: Article) -> Article:
    """Check the record and set what depends on all of it: the title's fallback and the retraction status."""
    check_record(record)
    if not record.title:
        record.title = record.vernacular_title
    record.retraction = retraction_status(record.publication_types, record.corrections)
    return record


def below(readers: Readers) -> Reader:
    """Make a reader that hands the element's children to `readers`."""

    def into(record: Article, element: etree._Element) -> None:
        read(record, element, readers)

    return into


def pmid(record: Article, element: etree._Element) -> None:
    """Read PMID."""
    set_pmid(record, element.attrib, leaf(element))


def set_pmid(record: Article, attributes: Attributes, text: str | None) -> None:
    """Set PMID and version. Raises `OddRecord` for a version that PubMed does not count to."""
    record.pmid = text or ""
    record.pmid_version = version_of(attributes.get("Version"))


def set_to(name: str, value: Callable[[etree._Element], Any]) -> Reader:
    """Make a reader that sets the attribute `name` to `value(element)`."""

    def into(record: Article, element: etree._Element) -> None:
        setattr(record, name, value(element))

    return into


def text_or_none(element: etree._Element) -> str | None:
    """Mixed content as plain text; None when empty."""
    return plain(element) or None


def abstract(record: Article, element: etree._Element) -> None:
    """Set the abstract and its copyright line."""
    record.abstract = sections(element)
    record.copyright = copyright_line(element)


def authors(record: Article, element: etree._Element) -> None:
    """Add AuthorList, and note whether PubMed marks it complete."""
    record.authors += people.people(element)
    record.authors_complete = people.complete(element)


def investigators(record: Article, element: etree._Element) -> None:
    """Add InvestigatorList: contributors to a group, who are no authors."""
    record.investigators += people.people(element)


def language(record: Article, element: etree._Element) -> None:
    """Add one Language, a MARC code."""
    text = leaf(element)
    if text:
        record.languages += (text,)


def keywords(record: Article, element: etree._Element) -> None:
    """Add one KeywordList; a record may have one from each owner (NLM, the publisher, ...)."""
    record.keywords += tuple(indexing.keywords(element))


def references(record: Article, element: etree._Element) -> None:
    """Add one ReferenceList."""
    record.references += tuple(linking.references(element))


def pagination(record: Article, element: etree._Element) -> None:
    """Read Pagination."""
    parts = {child.tag: leaf(child) for child in element}
    record.pages = pages(parts.get("StartPage"), parts.get("EndPage"), parts.get("MedlinePgn"))


def pages(start: str | None, end: str | None, as_printed: str | None) -> str | None:
    """The pages as printed; the first and the last page only without them."""
    return as_printed or (f"{start}-{end}" if start and end else start)


def history(record: Article, element: etree._Element) -> None:
    """Set the three Entrez dates. Status `pubmed` is EDAT and `entrez` is CRDT, whatever their names suggest."""
    for child in element:
        name, value = history_date(child)
        if name:
            setattr(record, name, value)


def history_date(element: etree._Element) -> tuple[str | None, str | None]:
    """One PubMedPubDate: the field that it belongs to, None for a date that is not wanted, and its value."""
    name = HISTORY.get(element.get("PubStatus", ""))
    return name, stamp(element) if name else None


def _citation(record: Article, element: etree._Element) -> None:
    record.status = element.get("Status")
    read(record, element, CITATION)


def _article(record: Article, element: etree._Element) -> None:
    record.publication_model = element.get("PubModel")
    read(record, element, ARTICLE)


def _article_date(record: Article, element: etree._Element) -> None:
    if element.get("DateType", "Electronic") == "Electronic" and record.electronic_date is None:
        record.electronic_date = printed(element)


def _other_abstract(record: Article, element: etree._Element) -> None:
    record.other_abstracts += (other_abstract(element),)


ARTICLE: Readers = {
    "Journal": journal,
    "ArticleTitle": set_to("title", text_or_none),
    "VernacularTitle": set_to("vernacular_title", text_or_none),
    "Pagination": pagination,
    "ELocationID": linking.location_id,
    "Abstract": abstract,
    "AuthorList": authors,
    "Language": language,
    "DataBankList": set_to("databanks", indexing.databanks),
    "GrantList": set_to("grants", indexing.grants),
    "PublicationTypeList": set_to("publication_types", indexing.publication_types),
    "ArticleDate": _article_date,
}
CITATION: Readers = {
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
PUBMED_DATA: Readers = {
    "History": history,
    "ArticleIdList": linking.own_ids,
    "ReferenceList": references,
    "PublicationStatus": set_to("publication_status", leaf),
}
RECORD: Readers = {"MedlineCitation": _citation, "PubmedData": below(PUBMED_DATA)}
