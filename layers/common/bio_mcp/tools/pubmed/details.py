"""Details of an article, in the terms of the `pubmed` contract."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import Field

from bio_mcp.literature.records import MONTHS, Article, Author, PartialDate, RetractionStatus
from bio_mcp.literature.trials import registrations
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.tool import Response
from bio_mcp.tools.pmids import PMID

ABSENT: Any = None  # a field that no contract has is left out where there is nothing to say, never null


class PubmedAuthor(Response):
    """A person or a group (`collectiveName`). `affiliationIndices` point into the article's `affiliations`."""

    lastName: str | None = None
    firstName: str | None = None
    initials: str | None = None
    affiliation: str | None = None
    collectiveName: str | None = None
    suffix: str = ABSENT
    orcid: str = ABSENT
    affiliationIndices: list[int] = Field(default_factory=list)


class PublicationDate(Response):
    """A date as precise as printed; `medlineDate` is the printed form."""

    year: int | None = None
    month: str | None = None
    day: int | None = None
    medlineDate: str | None = None


class JournalIssue(Response):
    """Journal, volume, issue and pages; of a chapter, its book."""

    title: str | None = None
    isoAbbreviation: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    publicationDate: PublicationDate = Field(default_factory=PublicationDate)
    issn: str | None = None


class MeshTerm(Response):
    """A heading with one qualifier; a heading with several qualifiers makes several."""

    descriptorName: str
    qualifierName: str | None = None
    isMajorTopic: bool = False
    ui: str | None = None


class PubmedGrant(Response):
    """A funding statement."""

    grantId: str | None = None
    agency: str | None = None
    country: str | None = None


class ArticleDetails(Response):
    """An article; fields that were not requested, or that the record lacks, are absent."""

    pmid: str = Field(pattern=PMID)
    title: str | None
    abstractText: str | None = None
    authors: list[PubmedAuthor] = Field(default_factory=list)
    journalInfo: JournalIssue = Field(default_factory=JournalIssue)
    publicationTypes: list[str] = Field(default_factory=list)
    keywords: list[str] = Field(default_factory=list)
    meshTerms: list[MeshTerm] = Field(default_factory=list)
    grantList: list[PubmedGrant] = Field(default_factory=list)
    doi: str | None = None
    pmcid: str | None = None
    book: dict[str, str] = ABSENT
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    corrections: list[str] = Field(default_factory=list)
    affiliations: list[str] = Field(default_factory=list)
    trials: list[dict[str, str]] = ABSENT


def citation_details(article: Article, mesh: bool) -> ArticleDetails:
    """The details that a citation needs."""
    return ArticleDetails(
        pmid=article.pmid,
        title=article.title,
        authors=[_author(each) for each in article.authors],
        journalInfo=_journal(article),
        doi=article.doi,
        pmcid=article.pmcid,
        retraction=article.retraction,
        **_present(book=_book(article), meshTerms=list(_mesh(article)) if mesh else None),
    )


def full_details(article: Article, mesh: bool, grants: bool, affiliations: bool) -> ArticleDetails:
    """All details. `keywords` are the authors', or the MeSH headings where they gave none."""
    headings = [heading.name for heading in article.mesh] if mesh else []
    places = dict.fromkeys(place for each in article.authors for place in each.affiliations) if affiliations else {}
    index = {place: at for at, place in enumerate(places)}
    return ArticleDetails(
        pmid=article.pmid,
        title=article.title,
        abstractText=abstract_text(article) or None,
        authors=[_author(each, index) for each in article.authors],
        journalInfo=_journal(article),
        publicationTypes=[each.name for each in article.publication_types],
        keywords=list(article.keywords) or headings,
        doi=article.doi,
        pmcid=article.pmcid,
        retraction=article.retraction,
        **_present(
            book=_book(article),
            meshTerms=list(_mesh(article)) if mesh else None,
            grantList=_grants(article) if grants else None,
            corrections=_corrections(article) or None,
            affiliations=list(places) or None,
            trials=[each.values for each in registrations(article)] or None,
        ),
    )


def _present(**parts: Any) -> dict[str, Any]:
    """The parts that exist and were requested."""
    return {name: part for name, part in parts.items() if part is not None}


def _author(author: Author, index: Mapping[str, int] = MappingProxyType({})) -> PubmedAuthor:
    """A group or a person; `index` maps an affiliation to its place in the article's list."""
    places = [index[place] for place in author.affiliations if place in index]
    more = _present(suffix=author.suffix, orcid=author.orcid, affiliationIndices=places or None)
    if author.collective_name:
        return PubmedAuthor(collectiveName=author.collective_name, **more)
    return PubmedAuthor(lastName=author.last_name, firstName=author.fore_name, initials=author.initials, **more)


def _journal(article: Article) -> JournalIssue:
    """For a chapter, its book's title and date."""
    journal, book = article.journal, article.book
    dated = article.publication_date or (book and book.contribution_date) or article.electronic_date
    return JournalIssue(
        title=(journal and journal.title) or (book and book.title) or None,
        isoAbbreviation=journal.iso_abbreviation if journal else None,
        volume=journal.volume if journal else None,
        issue=journal.issue if journal else None,
        pages=article.pages,
        publicationDate=_date(dated),
        issn=journal.issn if journal else None,
    )


def _date(dated: PartialDate | None) -> PublicationDate:
    if dated is None:
        return PublicationDate()
    month = MONTHS[dated.month - 1] if dated.month else None
    return PublicationDate(year=dated.year, month=month, day=dated.day, medlineDate=dated.text)


def _book(article: Article) -> dict[str, str] | None:
    if (book := article.book) is None:
        return None
    return _present(title=book.title, publisher=book.publisher, edition=book.edition, accession=book.accession)


def _mesh(article: Article) -> Iterator[MeshTerm]:
    """One row per heading and qualifier."""
    for heading in article.mesh:
        pairs: list[tuple[str | None, bool]] = [(each.name, heading.major or each.major) for each in heading.qualifiers]
        for qualifier, major in pairs or [(None, heading.major)]:
            yield MeshTerm(descriptorName=heading.name, qualifierName=qualifier, isMajorTopic=major, ui=heading.ui)


def _grants(article: Article) -> list[PubmedGrant]:
    return [PubmedGrant(grantId=each.number, agency=each.agency, country=each.country) for each in article.grants]


def _corrections(article: Article) -> list[str]:
    """Notices about the article (retractions, errata, concerns): "RetractionIn: PMID 123, J Test. 2020"."""
    apart = ("Cites", "Comment", "Associated", "SummaryForPatients", "OriginalReport")
    notices = [each for each in article.corrections if not each.kind.startswith(apart)]
    places = [[each.pmid and f"PMID {each.pmid}", each.citation] for each in notices]
    return [f"{each.kind}: {', '.join(filter(None, place))}" for each, place in zip(notices, places, strict=True)]
