"""Services beside NCBI: preprints, open access, figures of citations, notices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bio_mcp.deadline import Deadline
from bio_mcp.literature.documents import FullText
from bio_mcp.literature.notices import Notice


@dataclass(frozen=True, slots=True)
class Metrics:
    """The figures of one paper. `references` and `cited_by` are PMIDs: papers outside of PubMed are not counted.

    `relative_citation_ratio` compares citations a year with those of NIH-funded papers of the same field and year,
    whose median has 1.0; None where iCite has not computed it. It `is_provisional` in the first years. `percentile` is
    its place among NIH-funded papers, 0 to 100. `is_clinical`: a trial or a guideline; `cited_by_clinical`: the PMIDs
    of those that cite it.
    """

    pmid: str
    title: str = ""
    year: int | None = None
    doi: str | None = None
    citation_count: int = 0
    citations_per_year: float | None = None
    relative_citation_ratio: float | None = None
    percentile: float | None = None
    is_provisional: bool = False
    is_clinical: bool = False
    is_research: bool = False
    references: tuple[str, ...] = ()
    cited_by: tuple[str, ...] = ()
    cited_by_clinical: tuple[str, ...] = ()


class CitationMetrics(Protocol):
    """Figures of papers, which iCite renews monthly."""

    def of(self, pmids: Sequence[str], *, deadline: Deadline) -> dict[str, Metrics]:
        """Return the figures by PMID; papers that iCite does not have are absent, as most before 1980 are.

        PMIDs are in their normal form. Calls wait for the service's rate limiter and are retried within their
        deadline. Raises `UpstreamFailed`, `DeadlineExceeded`, and `BudgetSpent`; an incomplete answer is a failure.
        """


@dataclass(frozen=True, slots=True)
class RegisteredWork:
    """What a publisher registered of a work. `authors` are "Family, Given" or a group's name; "" where not stated.

    `kind` is Crossref's type ("journal-article", "posted-content" for a preprint). `preprint_of` are the DOIs of what a
    preprint became, `preprints` those of an article's.
    """

    doi: str
    title: str = ""
    authors: tuple[str, ...] = ()
    journal: str = ""
    year: int | None = None
    volume: str = ""
    issue: str = ""
    pages: str = ""
    kind: str = ""
    notices: tuple[Notice, ...] = ()
    preprint_of: tuple[str, ...] = ()
    preprints: tuple[str, ...] = ()


class Notices(Protocol):
    """Works and the notices about them, of publishers and of Retraction Watch, as Crossref has them."""

    def of(self, dois: Sequence[str], *, deadline: Deadline) -> dict[str, RegisteredWork]:
        """Return the works by DOI; those that Crossref does not have are absent, and may be another agency's.

        DOIs are in their normal form. Calls wait for the service's rate limiter and are retried within their deadline.
        Raises `UpstreamFailed`, `DeadlineExceeded`, and `BudgetSpent`; an incomplete answer is a failure, and so is one
        that is empty because Crossref has lost its index.
        """

    def titled(self, title: str, *, deadline: Deadline) -> tuple[RegisteredWork, ...]:
        """Return a few works, those first whose title is nearest; it may be of another paper. Raises as `of` does."""


Order = Literal["relevance", "date", "cited"]


@dataclass(frozen=True, slots=True)
class Version:
    """Another version of a work in Europe PMC: its `source` ("MED" for PubMed, "PPR" for preprints) and id there.

    `note` is Europe PMC's own word on how it knows, as "Link created based on a title-first author match".
    """

    source: str
    id: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class EuropePmcRecord:
    """A record. `journal` is a preprint's server. `date` is that of first publication, "2020-04-17" or "".

    `articles` are what a preprint became, `preprints` those of an article. `cited_by` counts citations in Europe PMC,
    by preprints as well. `text_id` names its full text here, None where Europe PMC gives none away.
    """

    source: str
    id: str
    title: str = ""
    authors: tuple[str, ...] = ()
    journal: str = ""
    year: int | None = None
    date: str = ""
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    abstract: str = ""
    licence: str = ""
    is_open: bool = False
    text_id: str | None = None
    cited_by: int = 0
    articles: tuple[Version, ...] = ()
    preprints: tuple[Version, ...] = ()


@dataclass(frozen=True, slots=True)
class EuropePmcPage:
    """Records of a search, in its order, of `count` in all. `following` is the cursor of the next page, None at the
    end."""

    count: int
    records: tuple[EuropePmcRecord, ...] = ()
    following: str | None = None


class EuropePmc(Protocol):
    """Europe PMC. Calls wait for the service's rate limiter and are retried within their deadline.

    Raises `UpstreamFailed`, `DeadlineExceeded`, and `BudgetSpent`; an incomplete answer is a failure.
    """

    def search(
        self, query: str, most: int, *, order: Order = "relevance", cursor: str = "", deadline: Deadline
    ) -> EuropePmcPage:
        """Return at most `most` records for a query in Europe PMC's syntax, from `cursor` on.

        Raises `InvalidInput` for a query that Europe PMC cannot run.
        """

    def articles(self, ids: Sequence[str], *, deadline: Deadline) -> dict[str, EuropePmcRecord]:
        """Return records by PMID, PMCID, DOI or a preprint's "PPR" id, each in its normal form; unknown are absent."""

    def full_text(self, text_id: str, *, deadline: Deadline) -> FullText:
        """Return the text that a record's `text_id` names. Raises `NotFound` where Europe PMC does not give it away."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy that its author or publisher put on the web. `version` is "publishedVersion", "acceptedVersion" or
    "submittedVersion", `host` "publisher" or "repository"; "" where not stated. Addresses are http or https."""

    url: str
    pdf_url: str | None = None
    version: str = ""
    host: str = ""
    licence: str = ""


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies of one paper, the best first; empty where there is none."""

    doi: str
    title: str = ""
    copies: tuple[Copy, ...] = ()


class OpenAccess(Protocol):
    """Legal copies of papers."""

    def copies(self, doi: str, *, deadline: Deadline) -> Copies:
        """Return the copies of the paper with this DOI, which is in its normal form.

        Calls wait for the service's rate limiter and are retried within their deadline. Raises `NotFound` for a DOI
        that Unpaywall does not know, `UpstreamFailed`, `DeadlineExceeded`, and `BudgetSpent`.
        """
