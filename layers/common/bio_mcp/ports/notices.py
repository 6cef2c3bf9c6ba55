"""Works as their publishers registered them, with the notices about them: Crossref."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bio_mcp.deadline import Deadline
from bio_mcp.literature.notices import Notice


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
        ...
