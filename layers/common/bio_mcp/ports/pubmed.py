"""PubMed by E-utilities: what syncing needs (`Entrez`), what live questions need (`Pubmed`), and their answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

from bio_mcp.deadline import Deadline
from bio_mcp.literature.records import Article, Deletion, RetractionStatus

LISTABLE = 9_999  # records of one search that PubMed lists, whatever retmax and history say
SIMILAR = "pubmed_pubmed"
CITED_IN = "pubmed_pubmed_citedin"
REFERENCES = "pubmed_pubmed_refs"


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One ESearch answer. `ids` are PMIDs as strings, `warnings` name what NCBI did not search as asked.

    `translation` is the query as NCBI understood it, `dropped` the terms that it left out of the search, `day` the
    day on which it answered, by its own clock (US Eastern), where it says so.
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
    """What ESummary says of an article.

    `pdat` is the date as printed ("1998 Dec-1999 Jan"), `edat` YYYY-MM-DDTHH:MM (US Eastern). `lr` and `abstract`
    are in no ESummary answer and always None: fetch the record for them. `journal` is the full name, `source`
    NLM's abbreviation. `authors` are "Doe J", groups included.
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
    sort_date: str | None = None
    doi: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    languages: tuple[str, ...] = ()
    has_abstract: bool = False
    cited_in_pmc: int | None = None
    retraction: RetractionStatus = RetractionStatus.UNKNOWN


@dataclass(frozen=True, slots=True)
class Summaries:
    """`found` in the order asked for; `missing`: PMID -> why there is no summary.

    Of those in `denied` PubMed said by name that there is none; others may be missing for another fault of the answer.
    """

    found: tuple[DocSummary, ...]
    missing: dict[str, str]
    denied: frozenset[str] = frozenset()

    def __add__(self, other: "Summaries") -> "Summaries":
        return Summaries(self.found + other.found, self.missing | other.missing, self.denied | other.denied)


@dataclass(frozen=True, slots=True)
class Link:
    """`uid` is a PMID where the target database is PubMed. `score` comes with neighbor_score only, raw."""

    uid: str
    score: int | None = None


@dataclass(frozen=True, slots=True)
class LinkSet:
    """What one article is linked with, in NCBI's order: of "similar" the article itself comes first."""

    pmid: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchField:
    """A field of a database: `name` is its tag ("TIAB"), `terms` how many it holds, where known."""

    name: str
    full_name: str
    description: str
    is_date: bool
    is_numerical: bool
    is_hidden: bool
    terms: int | None


@dataclass(frozen=True, slots=True)
class LinkName:
    name: str
    description: str
    db_to: str


@dataclass(frozen=True, slots=True)
class EntrezDatabase:
    """`count` records; `last_update` as NCBI prints it ("2025/06/25 07:12", US Eastern)."""

    name: str
    menu_name: str
    description: str
    count: int
    last_update: str
    fields: tuple[SearchField, ...]
    links: tuple[LinkName, ...]


@dataclass(frozen=True, slots=True)
class Spelling:
    """`corrected` is None when PubMed would spell nothing differently."""

    query: str
    corrected: str | None


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """How this process stands with NCBI. `tool` and `email` name us to it; `keyed`: requests carry an API key.

    `answered` and `failed` are when NCBI last answered well and last did not (UTC), None before the first time.
    `waiting` requests have not started yet; `limit` requests a second are allowed, `left` of them when last told.
    """

    tool: str
    email: str | None
    keyed: bool
    limit: int
    left: int | None = None
    waiting: int = 0
    answered: datetime | None = None
    failed: datetime | None = None

    @property
    def last(self) -> datetime | None:
        """When NCBI was last asked."""
        return max((each for each in (self.answered, self.failed) if each), default=None)


class Entrez(Protocol):
    """PubMed by E-utilities. Raises `NcbiFailed` and its kinds, `DeadlineExceeded`. Calls are paced and retried."""

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
        """PMIDs that match `term`; only the first 9,999 of a search can be read."""
        ...

    def efetch(self, pmids: Sequence[str], *, deadline: Deadline) -> Iterator[Article | Deletion]:
        """Stream the records of at most 200 PMIDs; those that PubMed does not have are absent.

        Yields nothing before the answer is whole: a cut answer raises and yields nothing.
        """
        ...

    def esummary(self, pmids: Sequence[str], *, deadline: Deadline) -> Summaries:
        """Summaries, and what PubMed has none of."""
        ...


class Pubmed(Protocol):
    """PubMed by E-utilities. Raises `NcbiFailed` and its kinds, `DeadlineExceeded`, `InvalidInput`.

    Calls are paced and retried within their deadline, the wait for a turn included. An answer that is not whole
    is a failure, never a shorter answer.
    """

    def esearch(
        self, term: str, *, deadline: Deadline, retmax: int, sort: str = "relevance", history: bool = False
    ) -> SearchPage:
        """The first PMIDs that match `term`; `history` keeps the search at NCBI for `summaries_of`."""
        ...

    def espell(self, term: str, *, deadline: Deadline) -> Spelling:
        """How PubMed would spell a query."""
        ...

    def esummary(self, pmids: Sequence[str], *, deadline: Deadline) -> Summaries:
        """Summaries in the order of `pmids`, and what PubMed has none of; any number of PMIDs."""
        ...

    def summaries_of(self, page: SearchPage, many: int, *, deadline: Deadline) -> Summaries:
        """Summaries of the first hits of a search that NCBI keeps; by PMID where it has forgotten the search."""
        ...

    def efetch(self, pmids: Sequence[str], *, deadline: Deadline) -> Iterator[Article | Deletion]:
        """The records of at most 200 PMIDs, in no order; those that PubMed does not have are absent."""
        ...

    def efetch_text(self, pmids: Sequence[str], *, style: Literal["xml", "medline"], deadline: Deadline) -> str:
        """The records of at most 200 PMIDs as NCBI prints them; those that PubMed does not have are absent."""
        ...

    def elink(
        self,
        pmids: Sequence[str],
        *,
        link_name: str = SIMILAR,
        command: Literal["neighbor", "neighbor_score"] = "neighbor",
        deadline: Deadline,
    ) -> tuple[LinkSet, ...]:
        """What each PMID is linked with, in the order of `pmids`, uncapped (a paper may have 13,000 citing it).

        `command` neighbor_score adds scores, but NCBI fails at it for much-cited papers: fall back to neighbor.
        """
        ...

    def einfo(self, *, deadline: Deadline) -> EntrezDatabase:
        """PubMed's size, last update, fields and link names."""
        ...

    def check(self, *, deadline: Deadline) -> None:
        """Ask NCBI for as little as there is, now: raises unless it answers."""
        ...

    def contact(self) -> ConnectionStatus:
        """How this process stands with NCBI; asks nobody."""
        ...
