"""PubmedArticle and PubmedBookArticle to `Article`.

One pass over each level of the tree; the tag of a child selects its reader.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from lxml import etree

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.identifiers import is_pmid
from bio_mcp.literature.medline.dates import calendar_day, printed, stamp
from bio_mcp.literature.medline.retraction_status import retraction_status
from bio_mcp.literature.medline.text import leaf, plain, tidy
from bio_mcp.literature.records import (
    AbstractSection,
    Article,
    Author,
    Book,
    Chemical,
    Correction,
    Databank,
    Grant,
    Journal,
    MeshHeading,
    MeshQualifier,
    OtherAbstract,
    PublicationType,
    Reference,
)

LONGEST_TEXT = 100_000  # characters of a title and an abstract; PubMed's longest abstracts have seven thousand
_SHOWN = 40  # characters of a PMID that is none

Reader = Callable[[Article, etree._Element], None]
Readers = dict[Any, Reader]  # Any: lxml types a tag as the union of everything that a node can have for one


class OddRecord(NcbiUnreadable):
    """A record that PubMed cannot have made. It is skipped; the records around it can be read."""


def article(element: etree._Element) -> Article:
    """Read one PubmedArticle. Raises `OddRecord` for one that PubMed cannot have made."""
    record = Article("")
    for part in element:
        if part.tag == "MedlineCitation":
            record.status = part.get("Status")
            _read(record, part, _CITATION)
        elif part.tag == "PubmedData":
            _read(record, part, _PUBMED_DATA)
    return _finished(record)


def chapter(element: etree._Element) -> Article:
    """Read one PubmedBookArticle, a book or a chapter of one (GeneReviews, StatPearls), with `book` for `journal`.

    A chapter without its own title or authors takes those of the book.
    """
    record = Article("")
    _read(record, element, _BOOK_RECORD)
    document = element.find("BookDocument")
    if document is not None:
        record.book = _book(document)
        record.title = record.title or record.vernacular_title or record.book.title
        of_book, own = ([each for each in document.findall(path) if each.get("Type") != "editors"] for path in _LISTS)
        for each in own[-1:] or of_book:
            record.authors += _people(each)
            record.authors_complete = record.authors_complete and each.get("CompleteYN") != "N"
    return _finished(record)


def check_pmid(text: str) -> str:
    """Return the PMID unchanged. Raises `OddRecord` for anything else than up to nine digits without a leading zero."""
    if not is_pmid(text):
        raise OddRecord(f"{text[:_SHOWN]!r} is not a PMID: it has up to nine digits and no leading zero.")
    return text


def orcid(text: str | None) -> str | None:
    """Find 0000-0000-0000-000X in a bare, run-together or URL form. The check digit is not verified."""
    match = _ORCID.search(text) if text else None
    return "-".join(match.groups()).upper() if match else None


def bare_doi(text: str) -> str:
    """Strip `doi:` or a resolver's address from a DOI; its case stays. Text without a DOI is returned unchanged."""
    if text.startswith("10."):
        return text
    match = _DOI.search(text)
    return match[0] if match else text


def bare_pmcid(text: str) -> str | None:
    """Find `PMC123` in itself or in `pmc-id: PMC123;`; None where there is none."""
    match = _PMCID.search(text)
    return match[0] if match else None


_ORCID = re.compile(r"(?<!\d)(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])(?![\dXx])")
_DOI = re.compile(r"10\.\d{3,9}(?:\.\d+)*/\S+")
_PMCID = re.compile(r"PMC\d+(?:\.\d+)?")


def _read(record: Article, element: etree._Element, readers: Readers) -> None:
    """Hand every child of `element` to the reader of its tag; children without a reader are skipped."""
    for child in element:
        reader = readers.get(child.tag)
        if reader is not None:
            reader(record, child)


def _finished(record: Article) -> Article:
    """Check the record and set what depends on all of it: the title's fallback and the retraction status."""
    if not record.pmid:
        raise OddRecord("A record in the PubMed XML has no PMID; fetch it again or take it out of the file.")
    check_pmid(record.pmid)
    texts = [record.title or "", record.vernacular_title or "", *[section.text for section in record.abstract]]
    if sum(map(len, texts)) > LONGEST_TEXT:
        raise OddRecord(f"Title and abstract of PMID {record.pmid} have more than {LONGEST_TEXT:,} characters.")
    record.title = record.title or record.vernacular_title
    record.retraction = retraction_status(record.publication_types, record.corrections)
    return record


def _set_to(name: str, value: Callable[[etree._Element], Any]) -> Reader:
    return lambda record, element: setattr(record, name, value(element))


def _set_to_each(name: str, value: Callable[[etree._Element], Any]) -> Reader:
    """Make a reader that sets the attribute `name` to the `value` of every child."""
    return lambda record, element: setattr(record, name, tuple(map(value, element)))


def _add(name: str, values: Callable[[etree._Element], Iterable[Any]]) -> Reader:
    """Make a reader that adds the `values` of an element, but empty ones, to the attribute `name`."""
    return lambda record, element: setattr(record, name, (*getattr(record, name), *filter(None, values(element))))


def _below(readers: Readers) -> Reader:
    return lambda record, element: _read(record, element, readers)


def _plain_or_none(element: etree._Element) -> str | None:
    return plain(element) or None


def _leaves(element: etree._Element) -> dict[Any, str | None]:
    return {child.tag: leaf(child) for child in element}


def _pmid(record: Article, element: etree._Element) -> None:
    """PMID and its Version, which is 1 where it is not a number."""
    record.pmid = leaf(element) or ""
    version = version_of(element)
    record.pmid_version = 1 if version is None else version


def version_of(pmid: etree._Element) -> int | None:
    """The Version of a PMID; None where it is not a number. Raises `OddRecord`."""
    version = pmid.get("Version", "")
    if not (version.isascii() and version.isdigit()):
        return None
    if len(version) > 4:
        raise OddRecord(f"Version {version[:_SHOWN]} is none that PubMed counts to.")
    return int(version)


# The article, and its abstracts


def _article(record: Article, element: etree._Element) -> None:
    record.publication_model = element.get("PubModel")
    _read(record, element, _ARTICLE)


def _abstract(record: Article, element: etree._Element) -> None:
    record.abstract = _sections(element)
    line = element.find("CopyrightInformation")
    record.copyright = _plain_or_none(line) if line is not None else None


def _sections(element: etree._Element) -> tuple[AbstractSection, ...]:
    """The AbstractText elements in order. A labelled section stays even when its text is empty."""
    sections = []
    for child in element.iterchildren("AbstractText"):
        label, text = child.get("Label"), plain(child)
        label = label.strip() or None if label else None
        if text or label:
            sections.append(AbstractSection(label, child.get("NlmCategory"), text))
    return tuple(sections)


# People


def _authors(record: Article, element: etree._Element) -> None:
    record.authors += _people(element)
    record.authors_complete = element.get("CompleteYN") != "N"


def _people(element: etree._Element) -> tuple[Author, ...]:
    """Every person and group of the list, in order; those that NLM marks invalid have `valid` False."""
    people: list[Author] = []
    person = Author()
    for part in element.iter(*_PERSON):
        tag = part.tag
        named = _NAMES.get(tag)
        if named:
            setattr(person, named[0], named[1](part))
        elif tag == "Affiliation":
            affiliation = plain(part)
            person.affiliations += (affiliation,) if affiliation else ()
        elif tag == "Author" or tag == "Investigator":
            person = Author(valid=part.get("ValidYN") != "N", equal_contribution=part.get("EqualContrib") == "Y")
            people.append(person)
        elif part.get("Source") == "ORCID":
            person.orcid = person.orcid or orcid(part.text)
    return tuple(people)


_NAMES: dict[Any, tuple[str, Callable[[etree._Element], str | None]]] = {
    "LastName": ("last_name", leaf),
    "ForeName": ("fore_name", leaf),
    "Initials": ("initials", leaf),
    "Suffix": ("suffix", _plain_or_none),
    "CollectiveName": ("collective_name", _plain_or_none),
}
_PERSON = ("Author", "Investigator", "Affiliation", "Identifier", *_NAMES)


# Journal, issue, pages, dates


def _journal(record: Article, element: etree._Element) -> None:
    journal = record.journal = record.journal or Journal()
    for child in element:
        if child.tag == "ISSN":
            journal.issn, journal.issn_type = leaf(child), child.get("IssnType")
        elif child.tag == "Title":
            journal.title = _plain_or_none(child)
        elif child.tag == "ISOAbbreviation":
            journal.iso_abbreviation = _plain_or_none(child)
        elif child.tag == "JournalIssue":
            parts = {part.tag: part for part in child}
            journal.volume, journal.issue = (leaf(parts[tag]) if tag in parts else None for tag in ("Volume", "Issue"))
            record.publication_date = printed(parts["PubDate"]) if "PubDate" in parts else None


def _journal_info(record: Article, element: etree._Element) -> None:
    """What NLM's catalogue knows of the journal."""
    journal = record.journal = record.journal or Journal()
    for child in element:
        name = _OF_NLM.get(child.tag)
        if name:
            setattr(journal, name, leaf(child))


_OF_NLM: dict[Any, str] = {
    "Country": "country",
    "MedlineTA": "medline_abbreviation",
    "NlmUniqueID": "nlm_id",
    "ISSNLinking": "issn_l",
}


def _pagination(record: Article, element: etree._Element) -> None:
    """The pages as printed; the first and the last page only without them."""
    parts = _leaves(element)
    start, end = parts.get("StartPage"), parts.get("EndPage")
    record.pages = parts.get("MedlinePgn") or (f"{start}-{end}" if start and end else start)


def _article_date(record: Article, element: etree._Element) -> None:
    if element.get("DateType", "Electronic") == "Electronic" and record.electronic_date is None:
        record.electronic_date = printed(element)


def _history(record: Article, element: etree._Element) -> None:
    """The three Entrez dates. Status `pubmed` is EDAT and `entrez` is CRDT, whatever their names suggest."""
    for child in element:
        name = _ENTREZ_DATES.get(child.get("PubStatus", ""))
        if name:
            setattr(record, name, stamp(child))


_ENTREZ_DATES = {"pubmed": "edat", "entrez": "crdt", "medline": "mhda"}


# Indexing by NLM and publishers


@lru_cache(maxsize=8192)
def _named(kind: Callable[..., Any], ui: str, name: str, *more: bool) -> Any:
    """A type or a qualifier, which many records share."""
    return kind(ui, tidy(name), *more)


def _publication_type(element: etree._Element) -> Any:
    return _named(PublicationType, element.get("UI", ""), element.text or "")


def _mesh(element: etree._Element) -> tuple[MeshHeading, ...]:
    """The headings in the record's order; an element without a descriptor is none."""
    headings = []
    for each in element:
        heading = None
        qualifiers: list[MeshQualifier] = []
        for child in each:
            ui, name, major = child.get("UI", ""), child.text or "", child.get("MajorTopicYN") == "Y"
            if child.tag == "DescriptorName":
                heading = MeshHeading(ui, tidy(name), major)
            elif child.tag == "QualifierName":
                qualifiers.append(_named(MeshQualifier, ui, name, major))
        if heading:
            heading.qualifiers = tuple(qualifiers)
            headings.append(heading)
    return tuple(headings)


def _chemical(element: etree._Element) -> Chemical:
    """A substance; the registry number is "0" where it has none."""
    ui = name = number = ""
    for child in element:
        if child.tag == "RegistryNumber":
            number = leaf(child) or ""
        elif child.tag == "NameOfSubstance":
            ui, name = child.get("UI", ""), leaf(child) or ""
    return Chemical(ui, name, number)


def _grant(element: etree._Element) -> Grant:
    """One Grant. `&amp;`, which some records escape twice, is unescaped once more."""
    parts = _leaves(element)
    number, agency = (text and text.replace("&amp;", "&") for text in (parts.get("GrantID"), parts.get("Agency")))
    return Grant(number, parts.get("Acronym"), agency, parts.get("Country"))


def _databank(element: etree._Element) -> Databank:
    name = ""
    accessions: list[str] = []
    for child in element:
        if child.tag == "DataBankName":
            name = leaf(child) or ""
        elif child.tag == "AccessionNumberList":
            accessions.extend(filter(None, map(leaf, child)))
    return Databank(name, tuple(accessions))


# Ids, cited works, notices


def _own_ids(record: Article, element: etree._Element) -> None:
    """DOI, PMCID and PII from the record's own list, which outranks ELocationID.

    Of several DOIs the one that ELocationID confirms counts, else the first.
    """
    dois: list[str] = []
    for child in element:
        kind, text = child.get("IdType"), leaf(child)
        if not text:
            continue
        if kind == "doi":
            dois.append(bare_doi(text))
        elif kind == "pii":
            record.pii = text
        elif kind in ("pmc", "pmcid"):
            record.pmcid = bare_pmcid(text) or record.pmcid
    if dois and record.doi not in dois:
        record.doi = dois[0]


def _location_id(record: Article, element: etree._Element) -> None:
    """DOI or PII from an ELocationID, for want of one in the record's list. One marked invalid is ignored."""
    kind, text = element.get("EIdType"), leaf(element)
    if not text or element.get("ValidYN") == "N":
        return
    if kind == "doi":
        record.doi = record.doi or bare_doi(text)
    elif kind == "pii":
        record.pii = record.pii or text


def _references(record: Article, element: etree._Element) -> None:
    """One ReferenceList and the lists inside it, in printed order."""
    cited: list[Reference] = []
    current = Reference()
    for part in element.iter("Reference", "Citation", "ArticleId"):
        tag = part.tag
        if tag == "ArticleId":
            _cited_id(current, part.get("IdType"), leaf(part))
        elif tag == "Citation":
            current.citation = plain(part) or None
        else:
            current = Reference()
            cited.append(current)
    record.references += tuple(cited)


def _cited_id(reference: Reference, kind: str | None, text: str | None) -> None:
    if kind == "pubmed":
        reference.pmid = text
    elif not text:
        return
    elif kind == "doi":
        reference.doi = bare_doi(text)
    elif kind in ("pmc", "pmcid"):
        reference.pmcid = bare_pmcid(text)


def _correction(element: etree._Element) -> Correction:
    """One CommentsCorrections; its PMID may be absent."""
    parts = _leaves(element)
    return Correction(element.get("RefType", ""), parts.get("RefSource"), parts.get("PMID"), parts.get("Note"))


_OF_RECORD: Readers = {  # of an article, and of a book
    "PMID": _pmid,
    "DateRevised": _set_to("date_revised", calendar_day),
    "InvestigatorList": _set_to("investigators", _people),  # contributors to a group, who are no authors
    "KeywordList": _add("keywords", lambda element: map(plain, element)),
}
_OF_TEXT: Readers = {
    "ArticleTitle": _set_to("title", _plain_or_none),
    "VernacularTitle": _set_to("vernacular_title", _plain_or_none),
    "Pagination": _pagination,
    "Abstract": _abstract,
    "Language": _add("languages", lambda element: [leaf(element)]),  # a MARC code
    "GrantList": _set_to_each("grants", _grant),
}
_ARTICLE: Readers = _OF_TEXT | {
    "Journal": _journal,
    "ELocationID": _location_id,
    "AuthorList": _authors,
    "DataBankList": _set_to_each("databanks", _databank),
    "PublicationTypeList": _set_to_each("publication_types", _publication_type),
    "ArticleDate": _article_date,
}
_CITATION: Readers = _OF_RECORD | {
    "DateCompleted": _set_to("date_completed", calendar_day),
    "Article": _article,
    "MedlineJournalInfo": _journal_info,
    "ChemicalList": _set_to_each("chemicals", _chemical),
    "CommentsCorrectionsList": _set_to_each("corrections", _correction),
    "MeshHeadingList": _set_to("mesh", _mesh),
    "OtherAbstract": _add(
        "other_abstracts",  # in another language or for other readers; `eng` is the DTD's default language
        lambda each: [OtherAbstract(each.get("Language") or "eng", each.get("Type") or "", _sections(each))],
    ),
}
_PUBMED_DATA: Readers = {
    "History": _history,
    "ArticleIdList": _own_ids,
    "ReferenceList": _references,
    "PublicationStatus": _set_to("publication_status", leaf),
}


# Books


_LISTS = ("Book/AuthorList", "AuthorList")


def _book(document: etree._Element) -> Book:
    def first(path: str, read: Callable[[etree._Element], Any]) -> Any:
        found = document.find(path)
        return read(found) if found is not None else None

    sections = document.find("Sections")
    editors = [each for path in _LISTS for each in document.findall(f"{path}[@Type='editors']")]
    return Book(
        title=first("Book/BookTitle", _plain_or_none),
        publisher=first("Book/Publisher/PublisherName", _plain_or_none),
        place=first("Book/Publisher/PublisherLocation", leaf),
        edition=first("Book/Edition", leaf),
        isbn=tuple(filter(None, map(leaf, document.iterfind("Book/Isbn")))),
        accession=first("ArticleIdList/ArticleId[@IdType='bookaccession']", leaf),
        editors=tuple(person for each in editors for person in _people(each)),
        contribution_date=first("ContributionDate", printed),
        contents=tuple(_section_titles(sections, "")) if sections is not None else (),
    )


def _section_titles(element: etree._Element, above: str) -> Iterator[str]:
    """The titles of all sections, each behind the titles above it: "Management > Surveillance"."""
    for section in element.iterchildren("Section"):
        parts = (section.find("LocationLabel"), section.find("SectionTitle"))
        title = above + " ".join(plain(part) for part in parts if part is not None)
        if title != above:
            yield title
        yield from _section_titles(section, f"{title} > ")


_BOOK_DOCUMENT: Readers = {
    **_OF_RECORD,
    **_OF_TEXT,
    "ArticleIdList": _own_ids,
    "Book": _below({"PubDate": _set_to("publication_date", printed), "ELocationID": _location_id}),
    "PublicationType": _add("publication_types", lambda element: [_publication_type(element)]),  # not in a list here
    "ReferenceList": _references,
}
_BOOK_RECORD: Readers = {
    "BookDocument": _below(_BOOK_DOCUMENT),
    "PubmedBookData": _below({"History": _history, "ArticleIdList": _own_ids}),
}
