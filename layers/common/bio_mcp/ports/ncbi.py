"""NCBI's other services (MeSH headings, citation matching, ids, full text), and the rate limiter of all requests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bio_mcp.deadline import Deadline
from bio_mcp.literature.jats import FullText

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
        ...

    def ecitmatch(self, citations: Sequence[Citation], *, deadline: Deadline) -> list[CitationMatch]:
        """Match citations: one result each, in order. An ambiguous citation has no PMID."""
        ...

    def convert(self, ids: Sequence[str], kind: IdKind, *, deadline: Deadline) -> dict[str, ArticleIds]:
        """Return the ids that PubMed Central has for each of `ids`; articles that it lacks are absent."""
        ...

    def full_text(self, pmcid: str, *, deadline: Deadline) -> FullText:
        """Return an article of PubMed Central. One whose text is withheld has no body.

        Raises `NotFound` for a PMCID that PubMed Central does not have.
        """
        ...


class RateLimiter(Protocol):
    """The rate limiter of requests to a service; at NCBI one for all users of an API key (or of an address)."""

    def wait(self, deadline: Deadline, share: str = "") -> None:
        """Return when the caller may start one request.

        Shares that wait take turns, one request each, however many each has waiting; a share alone has every turn.
        Raises at once, using no turn, if the turn would come after the deadline: `DeadlineExceeded`, or
        `NcbiRateLimited` during a cool-down.
        """
        ...

    def cool_down(self, seconds: float) -> None:
        """Let no request start for `seconds` from now. Waiting requests keep their order."""
        ...
