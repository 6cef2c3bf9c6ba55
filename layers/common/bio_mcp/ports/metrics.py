"""Citations of papers and what they amount to: NIH iCite."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bio_mcp.deadline import Deadline


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
        ...
