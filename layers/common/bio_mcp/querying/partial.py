"""Partial answers: which failures fail the call, and which only add a reason.

An answer is `complete`, or `partial` with reasons. When there is none, the failure's details have a `status`:
`throttled` (ask more slowly) or `upstream_failed` (NCBI is at fault). A failure never reads as "nothing found".
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

from bio_mcp.errors import DeadlineExceeded, Failure, InvalidInput, NcbiQueryRejected, NcbiRateLimited, UpstreamFailed

Status = Literal["complete", "partial", "throttled", "upstream_failed"]
T = TypeVar("T")


@contextmanager
def required() -> Iterator[None]:
    """Mark a block as the answer itself: a failure in it fails the call, and gets a `status` in its details.

    A query that NCBI rejects has no `status`: the caller must change the query, and waiting does not help.
    """
    try:
        yield
    except (UpstreamFailed, DeadlineExceeded) as failure:
        if not isinstance(failure, NcbiQueryRejected):
            failure.details["status"] = status_of(failure)
        raise


def status_of(failure: Failure) -> Status:
    """`throttled` when we asked too fast or waited too long for a turn; else `upstream_failed`."""
    queued = isinstance(failure, DeadlineExceeded) and failure.retry_after_s is not None
    return "throttled" if queued or isinstance(failure, NcbiRateLimited) else "upstream_failed"


def optional(ask: Callable[[], T], otherwise: T, missing: str, reasons: list[str]) -> T:
    """Return `ask()`, or `otherwise` when NCBI fails; `reasons` then gets a sentence on what is `missing`.

    `InvalidInput` counts as such a failure, since the request was composed here and not by the caller.
    """
    try:
        return ask()
    except (UpstreamFailed, DeadlineExceeded, InvalidInput) as failure:  # of what we made up ourselves
        reasons.append(f"{missing} ({status_of(failure)}): {failure}")
        return otherwise


def missing_summaries(pmids: Iterable[str]) -> list[str]:
    """The reason why an answer lacks summaries of these PMIDs; empty without PMIDs."""
    named = ", ".join(pmids)
    return [f"PubMed gave no summary of PMID {named}"] if named else []
