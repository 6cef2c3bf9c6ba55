"""The rest of what a reader asks NCBI for: headings, citations, ids, full text. The port, and what comes through it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bio_mcp.deadline import Deadline
from bio_mcp.literature.jats import FullText
from bio_mcp.pubmed import Citation, CitationMatch

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
