"""The bibliographic record, named as PubMed and the MEDLINE DTD name it."""

import re
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum


class RetractionStatus(StrEnum):
    """A paper's retraction status according to PubMed, the gravest first."""

    RETRACTED = "retracted"
    NOTICE = "notice"  # this record is itself a retraction notice
    CONCERN = "concern"  # an expression of concern was published
    CORRECTED = "corrected"  # an erratum was published
    CLEAR = "clear"
    UNKNOWN = "unknown"  # not a PubMed record that would say


GRAVITY = tuple(RetractionStatus)

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""As PubMed prints them."""


@dataclass(slots=True)
class PartialDate:
    """A date at its printed precision.

    `text` is the printed form ("1998 Dec-1999 Jan", "2021 Spring", "2021 Jun 7"). `year`, `month` and `day` are the
    start of the range, None where the print does not say.
    """

    text: str
    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def iso(self) -> str | None:
        """YYYY, YYYY-MM or YYYY-MM-DD, as precise as the record and no more; None without a year."""
        parts = [f"{self.year:04}" if self.year else "", *(f"{n:02}" for n in (self.month, self.day) if n)]
        return "-".join(parts) if self.year else None


@dataclass(slots=True)
class Author:
    """A person, or a group (`collective_name`). `orcid` is bare: 0000-0002-1825-0097.

    `valid` is False for a misspelt name that NLM replaced by a later entry; citations leave it out.
    """

    last_name: str | None = None
    fore_name: str | None = None
    initials: str | None = None
    suffix: str | None = None
    collective_name: str | None = None
    orcid: str | None = None
    affiliations: tuple[str, ...] = ()
    equal_contribution: bool = False
    valid: bool = True

    @property
    def short_name(self) -> str:
        """`Horby P`, with suffix; a group's name as it is."""
        parts = (self.last_name, self.initials or self.fore_name, self.suffix)
        return self.collective_name or " ".join(part for part in parts if part)


@dataclass(slots=True)
class AbstractSection:
    """One AbstractText. `label` as printed, `category` as NLM normalised it (METHODS, ...)."""

    label: str | None
    category: str | None
    text: str


@dataclass(slots=True)
class OtherAbstract:
    """An abstract in another language or of another kind (`plain-language-summary`, `Publisher`)."""

    language: str
    kind: str
    sections: tuple[AbstractSection, ...]


@dataclass(slots=True)
class Journal:
    """The journal of an article, with volume and issue.

    `issn` is the one cited in the record, `issn_l` its linking ISSN, `nlm_id` the NLM unique id.
    """

    title: str | None = None
    iso_abbreviation: str | None = None
    medline_abbreviation: str | None = None
    nlm_id: str | None = None
    issn: str | None = None
    issn_type: str | None = None
    issn_l: str | None = None
    country: str | None = None
    volume: str | None = None
    issue: str | None = None


@dataclass(slots=True)
class PublicationType:
    """A publication type: its MeSH UI and its English name."""

    ui: str
    name: str


@dataclass(slots=True)
class MeshQualifier:
    """A MeSH subheading. `major`: the article is mainly about it."""

    ui: str
    name: str
    major: bool = False


@dataclass(slots=True)
class MeshHeading:
    """A MeSH descriptor with its qualifiers. `major`: the article is mainly about it."""

    ui: str
    name: str
    major: bool = False
    qualifiers: tuple[MeshQualifier, ...] = ()


@dataclass(slots=True)
class Chemical:
    """A substance. `registry_number` is a CAS, EC or UNII number, "0" where it has none."""

    ui: str
    name: str
    registry_number: str


@dataclass(slots=True)
class Grant:
    """A funding statement; PubMed often has only some of its parts."""

    number: str | None = None
    acronym: str | None = None
    agency: str | None = None
    country: str | None = None


@dataclass(slots=True)
class Databank:
    """Accession numbers in one databank, "ClinicalTrials.gov" for example."""

    name: str
    accessions: tuple[str, ...] = ()


@dataclass(slots=True)
class Reference:
    """A cited work as the record prints it, with the ids that the record gives."""

    citation: str | None = None
    pmid: str | None = None
    doi: str | None = None
    pmcid: str | None = None


@dataclass(slots=True)
class Correction:
    """CommentsCorrections. `kind` is the DTD's RefType ("RetractionIn", "ErratumIn", "CommentOn", ...)."""

    kind: str
    citation: str | None = None
    pmid: str | None = None
    note: str | None = None

    @property
    def relation(self) -> str:
        """The kind in words: "Retraction in"."""
        return re.sub(r"(?<=[a-z])(?=[A-Z]|and[A-Z])", " ", self.kind).capitalize()


@dataclass(slots=True)
class Book:
    """What a PubmedBookArticle has in place of a journal."""

    title: str | None = None
    publisher: str | None = None
    place: str | None = None
    edition: str | None = None
    isbn: tuple[str, ...] = ()
    accession: str | None = None  # NBK id
    editors: tuple[Author, ...] = ()
    contribution_date: PartialDate | None = None
    contents: tuple[str, ...] = ()  # titles of the sections, "Management > Surveillance"


@dataclass(slots=True)
class Article:
    """One PubMed citation, treated as immutable.

    Text keeps the record's markup readable: superscripts and subscripts become Unicode where it has them.
    `edat`, `crdt`, `mhda` are `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM`, US Eastern, from History `pubmed`, `entrez`
    and `medline`; `date_revised` and `date_completed` are days.
    """

    pmid: str
    pmid_version: int = 1
    status: str | None = None  # MedlineCitation/@Status
    title: str | None = None  # the vernacular title where PubMed has no other
    vernacular_title: str | None = None
    abstract: tuple[AbstractSection, ...] = ()
    other_abstracts: tuple[OtherAbstract, ...] = ()
    copyright: str | None = None
    authors: tuple[Author, ...] = ()
    authors_complete: bool = True
    investigators: tuple[Author, ...] = ()
    journal: Journal | None = None
    book: Book | None = None
    pages: str | None = None  # as printed: "737-8", "e58144"
    languages: tuple[str, ...] = ()
    publication_types: tuple[PublicationType, ...] = ()
    mesh: tuple[MeshHeading, ...] = ()
    chemicals: tuple[Chemical, ...] = ()
    keywords: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    databanks: tuple[Databank, ...] = ()
    references: tuple[Reference, ...] = ()
    corrections: tuple[Correction, ...] = ()
    doi: str | None = None
    pmcid: str | None = None
    pii: str | None = None
    publication_date: PartialDate | None = None
    electronic_date: PartialDate | None = None
    edat: str | None = None
    crdt: str | None = None
    mhda: str | None = None
    date_revised: date | None = None
    date_completed: date | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    publication_model: str | None = None  # Article/@PubModel: "Print", "Electronic", "Print-Electronic", ...
    publication_status: str | None = None  # "ppublish", "epublish", "aheadofprint", ...


@dataclass(slots=True)
class Deletion:
    """A PMID that NLM withdrew: a DeleteCitation or DeleteDocument in an update file.

    It is of PubMed's version `version` and the older ones; None: of whatever is stored.
    """

    pmid: str
    version: int | None = None

    def covers(self, pmid_version: int) -> bool:
        return self.version is None or pmid_version <= self.version

    def joined(self, other: "Deletion | None") -> "Deletion":
        """The one of the two that covers more."""
        return other if other and (other.version is None or not self.covers(other.version)) else self


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is left of a paper that was deleted: none of `version` or below is stored again, nor are its passages.

    PubMed had withdrawn its versions up to `pmid_version`; `date_revised` is that of the record that was deleted, None
    where none was stored. `place` is that of NLM's file which says so, 0 where none does (`pubmed_files.order_of`).
    `number` is given out by the store, to each deletion a higher one.
    """

    version: int = 1
    pmid_version: int = 1
    date_revised: date | None = None
    place: int = 0
    number: int = field(default=0, compare=False)


@dataclass(slots=True)
class Document:
    """An article as the corpus stores it.

    `version` counts the corpus's own revisions from 1. `indexed_version` is the version whose passages are durable in
    the index, 0 when none is; a lower one means that indexing is unfinished. `content_hash` is
    `bio_mcp.literature.serial.content_hash` of the article. `place` is that of NLM's file that deleted the paper before
    it came back, `given` that of the last one known to have the paper, 0 for none.
    """

    article: Article
    content_hash: str
    version: int = 1
    indexed_version: int = 0
    place: int = field(default=0, compare=False)
    given: int = field(default=0, compare=False)


@dataclass(slots=True)
class Head:
    """The part of a `Document` that decides whether a fetched record is a revision, and whether a deletion is newer."""

    content_hash: str
    version: int
    indexed_version: int
    pmid_version: int
    date_revised: date | None
    place: int = field(default=0, compare=False)
    given: int = field(default=0, compare=False)


def compare_revisions(article: Article, known: Article | Head) -> int:
    """Below 0 for an article of an older PubMed version, or an older revision, than the known one; above for a newer
    one. A revision without a date is not compared."""
    if article.pmid_version != known.pmid_version:
        return article.pmid_version - known.pmid_version
    if article.date_revised is None or article.date_revised == known.date_revised:
        return 0
    return -1 if known.date_revised and article.date_revised < known.date_revised else 1


class ChangeKind(StrEnum):
    """What happened to a paper.

    A new or changed paper that is also retracted makes two changes: `NEW` or `CHANGED`, and `RETRACTED`.
    """

    NEW = "new"
    CHANGED = "changed"
    RETRACTED = "retracted"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class CorpusChange:
    """One change of one paper. `version` is the corpus's own; for a deleted paper it is the last one.

    Delivery is at least once. Two equal changes are the same event, so a listener can drop duplicates by comparing.
    """

    kind: ChangeKind
    pmid: str
    version: int


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """A passage of a paper, quoted to the byte.

    `field` is `title` or `abstract`, the abstract as `retrieval.chunking.abstract_text` joins it; `start` and `end` are
    offsets in characters into it, of the document's version `version`. `quote` is the text between them.
    """

    pmid: str
    version: int
    field: str
    start: int
    end: int
    quote: str

    @property
    def where(self) -> str:
        """The place in the contract's form: `abstract:120-245`."""
        return f"{self.field}:{self.start}-{self.end}"
