"""NCBI's other services (MeSH headings, citation matching, ids, full text), and the rate limiter of all requests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal, Protocol

from bio_mcp.deadline import Deadline
from bio_mcp.literature.documents import FullText
from bio_mcp.literature.identifiers import EUTILS_URL
from bio_mcp.literature.records import Article, Deletion, RetractionStatus

IdKind = Literal["pmid", "pmcid", "doi"]


@dataclass(frozen=True, slots=True)
class MeshRecord:
    """A MeSH descriptor, qualifier or supplementary concept. `terms`: its name first, then its entry terms.

    `trees` are tree numbers ("C18.452.394.750.149"), `year` the one in which it came to MeSH, "" where not stated.
    """

    ui: str
    terms: tuple[str, ...]
    kind: str = "descriptor"
    scope_note: str = ""
    trees: tuple[str, ...] = ()
    year: str = ""
    qualifiers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The preferred term."""
        return self.terms[0]


@dataclass(frozen=True, slots=True)
class MeshPage:
    """The first of `count` records, in NCBI's order. `translation` is the query as NCBI understood it."""

    count: int
    records: tuple[MeshRecord, ...]
    translation: str = ""


@dataclass(frozen=True, slots=True)
class ArticleIds:
    """The ids of one article, bare; None where it has none or NCBI does not state it."""

    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """The known fields of a citation; "" where unknown. `author` is "mann bj", `journal` a title or abbreviation."""

    journal: str = ""
    year: str = ""
    volume: str = ""
    first_page: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class CitationMatch:
    """The match of a citation: its `pmid`, or None and a `reason`.

    NCBI's reasons are like "NOT_FOUND;INVALID_JOURNAL" and "AMBIGUOUS (7 citations)".
    """

    citation: Citation
    pmid: str | None
    reason: str | None = None


class NcbiLookup(Protocol):
    """NCBI's other services. Raises `NcbiFailed` and its kinds, `DeadlineExceeded`, `InvalidInput`.

    Calls wait for the rate limiter and are retried within their deadline. An incomplete answer is a failure.
    """

    def mesh(self, term: str, most: int, *, deadline: Deadline) -> MeshPage:
        """Return at most `most` MeSH records that match `term`."""

    def ecitmatch(self, citations: Sequence[Citation], *, deadline: Deadline) -> list[CitationMatch]:
        """Match citations: one result each, in order. An ambiguous citation has no PMID."""

    def convert(self, ids: Sequence[str], kind: IdKind, *, deadline: Deadline) -> dict[str, ArticleIds]:
        """Return the ids that PubMed Central has for each of `ids`; articles that it lacks are absent."""

    def full_text(self, pmcid: str, *, deadline: Deadline) -> FullText:
        """Return an article of PubMed Central. One whose text is withheld has no body.

        Raises `NotFound` for a PMCID that PubMed Central does not have.
        """


class RateLimiter(Protocol):
    """The rate limiter of requests to a service; at NCBI one for all users of an API key (or of an address)."""

    def wait(self, deadline: Deadline, share: str = "") -> None:
        """Return when the caller may start one request.

        Shares that wait take turns, one request each, however many each has waiting; a share alone has every turn.
        Raises at once, using no turn, if the turn would come after the deadline: `DeadlineExceeded`, or
        `NcbiRateLimited` during a cool-down.
        """

    def cool_down(self, seconds: float) -> None:
        """Let no request start for `seconds` from now. Waiting requests keep their order."""


LISTABLE = 9_999  # records of one search that PubMed lists, whatever retmax and history say
SIMILAR = "pubmed_pubmed"
CITED_IN = "pubmed_pubmed_citedin"
REFERENCES = "pubmed_pubmed_refs"


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One ESearch answer.

    `ids` are PMIDs; `count` is the number of all hits. `warnings` name what NCBI did not search as requested.
    `translation` is the query as NCBI understood it, `dropped` the terms that it left out. `day` is NCBI's own date of
    the answer (US Eastern), where it gives one.
    """

    count: int
    ids: tuple[str, ...]
    translation: str
    warnings: tuple[str, ...] = ()
    web_env: str | None = None
    query_key: str | None = None
    dropped: tuple[str, ...] = ()
    day: date | None = None


@dataclass(frozen=True, slots=True)
class DocSummary:
    """ESummary's description of an article.

    `pdat` is the date as printed ("1998 Dec-1999 Jan"), `edat` YYYY-MM-DDTHH:MM (US Eastern). `journal` is the full
    name, `source` NLM's abbreviation. `authors` are "Doe J", groups included. `lr` and `abstract`, which the contract
    names, are in no ESummary answer and always None: fetch the record for them.
    """

    pmid: str
    title: str | None = None
    journal: str | None = None
    pub_types: tuple[str, ...] = ()
    pdat: str | None = None
    edat: str | None = None
    lr: str | None = None
    pmcid: str | None = None
    authors: tuple[str, ...] = ()
    abstract: str | None = None
    source: str | None = None
    epdat: str | None = None
    doi: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    languages: tuple[str, ...] = ()
    retraction: RetractionStatus = RetractionStatus.UNKNOWN


@dataclass(frozen=True, slots=True)
class Summaries:
    """Summaries in the order of the request; `missing` maps the other PMIDs to the reason.

    `denied` are the missing PMIDs that PubMed denied by name; the others are missing for a fault of the answer.
    """

    found: tuple[DocSummary, ...]
    missing: dict[str, str]
    denied: frozenset[str] = frozenset()

    def __add__(self, other: "Summaries") -> "Summaries":
        return Summaries(self.found + other.found, self.missing | other.missing, self.denied | other.denied)


@dataclass(frozen=True, slots=True)
class Link:
    """A linked record; `uid` is a PMID if the target is PubMed. `score` is raw, and comes with neighbor_score only."""

    uid: str
    score: int | None = None


@dataclass(frozen=True, slots=True)
class LinkSet:
    """The links of one article, in NCBI's order; among similar articles the article itself is the first."""

    pmid: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchField:
    """A field of a database: `name` is its tag ("TIAB"), `terms` the number of its distinct terms, where known."""

    name: str
    full_name: str
    description: str
    is_date: bool
    is_numerical: bool
    is_hidden: bool
    terms: int | None


@dataclass(frozen=True, slots=True)
class LinkName:
    """A kind of link from PubMed to the database `db_to`."""

    name: str
    description: str
    db_to: str


@dataclass(frozen=True, slots=True)
class EntrezDatabase:
    """A database: `count` records; `last_update` as NCBI prints it ("2025/06/25 07:12", US Eastern)."""

    name: str
    menu_name: str
    description: str
    count: int
    last_update: str
    fields: tuple[SearchField, ...]
    links: tuple[LinkName, ...]


@dataclass(frozen=True, slots=True)
class Spelling:
    """A query and PubMed's spelling of it; `corrected` is None when nothing would change."""

    query: str
    corrected: str | None


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """This process's connection to NCBI at `address`. `tool` and `email` identify it; `keyed`: requests carry an API
    key.

    `answered` and `failed` are the times (UTC) of the last success and the last failure, None before the first.
    `waiting` requests have not started yet. `limit` requests a second are allowed; `left` of them, as NCBI last stated.
    """

    tool: str
    email: str | None
    keyed: bool
    limit: int
    left: int | None = None
    waiting: int = 0
    answered: datetime | None = None
    failed: datetime | None = None
    address: str = EUTILS_URL

    @property
    def last(self) -> datetime | None:
        """When NCBI was last asked, UTC; None before the first request."""
        return max((each for each in (self.answered, self.failed) if each), default=None)


class Entrez(Protocol):
    """PubMed for syncing, never from a cache. Raises `NcbiFailed` and its kinds, `DeadlineExceeded`.

    Calls wait for the rate limiter and are retried within their deadline.
    """

    def esearch(
        self,
        term: str,
        *,
        deadline: Deadline,
        retstart: int = 0,
        retmax: int = LISTABLE,
        sort: str = "pub_date",
        history: bool = False,
    ) -> SearchPage:
        """Return PMIDs that match `term`; only the first 9,999 of a search can be read."""

    def efetch(self, pmids: Sequence[str], *, deadline: Deadline) -> Iterator[Article | Deletion]:
        """Stream the records of at most 200 PMIDs; those that PubMed does not have are absent.

        Yields nothing before the answer is whole: a cut answer raises and yields nothing.
        """

    def esummary(self, pmids: Sequence[str], *, deadline: Deadline) -> Summaries:
        """Return summaries, and the PMIDs that PubMed has none of."""


class Pubmed(Protocol):
    """PubMed for live queries. Raises `NcbiFailed` and its kinds, `DeadlineExceeded`, `InvalidInput`.

    Calls wait for the rate limiter and are retried within their deadline. An incomplete answer is a failure, never a
    shorter answer.
    """

    def esearch(
        self, term: str, *, deadline: Deadline, retmax: int, sort: str = "relevance", history: bool = False
    ) -> SearchPage:
        """Return the first PMIDs that match `term`. With `history`, NCBI stores the search for `summaries_of`."""

    def espell(self, term: str, *, deadline: Deadline) -> Spelling:
        """Return PubMed's spelling of a query."""

    def esummary(self, pmids: Sequence[str], *, deadline: Deadline) -> Summaries:
        """Return summaries in the order of `pmids`, and the PMIDs that PubMed has none of; any number of PMIDs."""

    def summaries_of(self, page: SearchPage, many: int, *, deadline: Deadline) -> Summaries:
        """Return summaries of the first `many` hits of a search that NCBI stores.

        They are fetched by PMID once NCBI has dropped the search, so an old page works as well.
        """

    def efetch(self, pmids: Sequence[str], *, deadline: Deadline) -> Iterator[Article | Deletion]:
        """Return the records of at most 200 PMIDs, in no order; those that PubMed does not have are absent."""

    def efetch_text(self, pmids: Sequence[str], *, style: Literal["xml", "medline"], deadline: Deadline) -> str:
        """Return the records of at most 200 PMIDs as NCBI prints them; those that PubMed does not have are absent."""

    def elink(
        self,
        pmids: Sequence[str],
        *,
        link_name: str = SIMILAR,
        command: Literal["neighbor", "neighbor_score"] = "neighbor",
        deadline: Deadline,
    ) -> tuple[LinkSet, ...]:
        """Return the links of each PMID, in the order of `pmids`, without a limit (a paper may be cited by 13,000).

        `command` neighbor_score adds scores, but NCBI fails at it for much-cited papers: fall back to neighbor.
        """

    def einfo(self, *, deadline: Deadline) -> EntrezDatabase:
        """Return PubMed's size, last update, fields and link names."""

    def check(self, *, deadline: Deadline) -> None:
        """Send NCBI the smallest request there is, now. Raises unless it answers."""

    def contact(self) -> ConnectionStatus:
        """Return this process's connection to NCBI, without a request."""


class PubmedFiles(Protocol):
    """NCBI's baseline and update files. Every method may raise `NcbiFailed`.

    An address is a folder and the name of a file: `baseline/pubmed26n0001.xml.gz`.
    """

    def addresses(self) -> list[str]:
        """Return the addresses of all files, in the order in which they hold.

        Raises `NcbiUnreadable` where NCBI's page is no list of them: there is always a baseline.
        """

    def md5(self, address: str) -> str:
        """Return the MD5, in hex, that NCBI publishes of a file."""

    def download(self, address: str, into: Path) -> None:
        """Add to `into` what it lacks of a file; it begins where an earlier download ended. Nothing is compared."""
