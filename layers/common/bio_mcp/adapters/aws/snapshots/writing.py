"""Who may write to an index in S3: one at a time, by a lease."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.errors import IndexUnavailable, StoreFailed

if TYPE_CHECKING:
    from bio_mcp.ports.state import Leases

LEASE_S = 60.0  # a writer that takes longer may find that another one was first: then nothing of it is written
WAITING = Backoff(tries=60, first_s=0.1, cap_s=1.0)
BUSY = "Others are writing to the index; nothing was written. Try again."


@contextmanager
def leased(leases: "Callable[[], Leases]", name: str, seconds: float, backoff: Backoff) -> Iterator[None]:
    """Hold the lease of this name. Raises `IndexUnavailable` where others have it all the time."""
    holder = uuid4().hex

    def take() -> None:
        if not leases().acquire(name, holder, seconds):
            raise IndexUnavailable(BUSY)

    try:
        retry(take, worth=IndexUnavailable, backoff=backoff)
    except StoreFailed as failure:
        raise IndexUnavailable(str(failure), retryable=failure.retryable) from failure
    try:
        yield
    finally:
        with suppress(StoreFailed):  # it ends by itself
            leases().release(name, holder)
