"""NCBI's other services: MeSH headings, citation matching, ids and full text; and whose turn it is to ask NCBI."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bio_mcp.deadline import Deadline
from bio_mcp.literature.jats import FullText

IdKind = Literal["pmid", "pmcid", "doi"]


@dataclass(frozen=True, slots=True)
class MeshRecord:
    """A MeSH descriptor, qualifier or supplementary concept. `terms`: its name first, then its entry terms.

    `trees` are tree numbers ("C18.452.394.750.149"), `year` the one in which it came to MeSH, "" where not told.
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
        return self.terms[0]


@dataclass(frozen=True, slots=True)
class MeshPage:
    """The first of `count` records, in NCBI's order. `translation` is the query as NCBI understood it."""

    count: int
    records: tuple[MeshRecord, ...]
    translation: str = ""


@dataclass(frozen=True, slots=True)
class ArticleIds:
    """The ids of one article, bare; None where it has none or where NCBI does not tell."""

    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """What is known of a paper; empty where it is not. `author` is "mann bj", `journal` a title or abbreviation."""

    journal: str = ""
    year: str = ""
    volume: str = ""
    first_page: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class CitationMatch:
    """`pmid` of the one paper that fits, or None and why: "NOT_FOUND;INVALID_JOURNAL", "AMBIGUOUS (7 citations)"."""

    citation: Citation
    pmid: str | None
    reason: str | None = None


class NcbiLookup(Protocol):
    """NCBI's other services. Raises `NcbiFailed` and its kinds, `DeadlineExceeded`, `InvalidInput`.

    Calls are paced and retried within their deadline; an answer that is not whole is a failure.
    """

    def mesh(self, term: str, most: int, *, deadline: Deadline) -> MeshPage:
        """MeSH records that match `term`, at most `most`."""
        ...

    def ecitmatch(self, citations: Sequence[Citation], *, deadline: Deadline) -> list[CitationMatch]:
        """The PMID of each citation, in order, or why there is none."""
        ...

    def convert(self, ids: Sequence[str], kind: IdKind, *, deadline: Deadline) -> dict[str, ArticleIds]:
        """What PubMed Central knows of each of these ids of one kind; those of articles not in it are absent."""
        ...

    def full_text(self, pmcid: str, *, deadline: Deadline) -> FullText:
        """An article of PubMed Central. Raises `NotFound`; one whose text is withheld comes without sections."""
        ...


class RateLimiter(Protocol):
    """The rate limiter of requests to NCBI; one for all users of an API key (or of an address, without a key)."""

    def wait(self, deadline: Deadline) -> None:
        """Return when the caller may start one request.

        Raises at once, using no turn, if the turn would come after the deadline: `DeadlineExceeded`, or
        `NcbiRateLimited` during a cool-down.
        """
        ...

    def cool_down(self, seconds: float) -> None:
        """Let no request start for `seconds` from now. Waiting requests keep their order."""
        ...
