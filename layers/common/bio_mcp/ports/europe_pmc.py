"""Europe PMC: papers of PubMed and preprints, what became of preprints, and open full texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bio_mcp.deadline import Deadline
from bio_mcp.literature.jats import FullText

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
        ...

    def articles(self, ids: Sequence[str], *, deadline: Deadline) -> dict[str, EuropePmcRecord]:
        """Return records by PMID, PMCID, DOI or a preprint's "PPR" id, each in its normal form; unknown are absent."""
        ...

    def full_text(self, text_id: str, *, deadline: Deadline) -> FullText:
        """Return the text that a record's `text_id` names. Raises `NotFound` where Europe PMC does not give it away."""
        ...
