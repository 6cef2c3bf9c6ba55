"""Telling an answer that is whole from one that is not, and either from no answer.

An answer is `complete` or `partial`, with reasons. When there is none, the failure says why in its details:
`status` is `throttled` (ask more slowly) or `upstream_failed` (NCBI is at fault). Nothing that failed is ever
given as "nothing found".
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

from bio_mcp.errors import DeadlineExceeded, Failure, InvalidInput, NcbiQueryRejected, NcbiRateLimited, UpstreamFailed

Status = Literal["complete", "partial", "throttled", "upstream_failed"]
T = TypeVar("T")


@contextmanager
def required() -> Iterator[None]:
    """What is asked for in this block is the answer itself: without it there is none, and the failure says why."""
    try:
        yield
    except (UpstreamFailed, DeadlineExceeded) as failure:
        if not isinstance(failure, NcbiQueryRejected):
            failure.details["status"] = kind_of(failure)
        raise


def kind_of(failure: Failure) -> Status:
    """Whether we asked too fast, or had to wait too long for a turn; else whether NCBI failed."""
    queued = isinstance(failure, DeadlineExceeded) and failure.retry_after_s is not None
    return "throttled" if queued or isinstance(failure, NcbiRateLimited) else "upstream_failed"


def optional(ask: Callable[[], T], otherwise: T, missing: str, reasons: list[str]) -> T:
    """What `ask` gives; `otherwise` when NCBI fails at it, with a reason that names what the answer is `missing`."""
    try:
        return ask()
    except (UpstreamFailed, DeadlineExceeded, InvalidInput) as failure:  # of what we made up ourselves
        reasons.append(f"{missing} ({kind_of(failure)}): {failure}")
        return otherwise


def missing_summaries(pmids: Iterable[str]) -> list[str]:
    """The reason why an answer lacks what was to be said of these, if there are any."""
    named = ", ".join(pmids)
    return [f"PubMed gave no summary of PMID {named}"] if named else []
