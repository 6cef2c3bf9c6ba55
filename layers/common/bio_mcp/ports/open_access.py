"""Where a legal copy of a paper is: Unpaywall."""

from dataclasses import dataclass
from typing import Protocol

from bio_mcp.deadline import Deadline


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
        ...
