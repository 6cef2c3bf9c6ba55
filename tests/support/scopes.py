"""Blocks that run as a call of which one thing is known."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from bio_mcp.callers import Caller
from bio_mcp.scope import CacheUse, Meter, entered
from bio_mcp.tool import Context


@contextmanager
def counting() -> Iterator[CacheUse]:
    """Count the lookups of the block."""
    use = CacheUse()
    with entered(Context(cache_use=use)):
        yield use


def metered(meter: Meter) -> AbstractContextManager[None]:
    """Charge what the block uses to `meter`."""
    return entered(Context(meter=meter))


def on_behalf_of(caller: Caller | None) -> AbstractContextManager[None]:
    """Run the block for `caller`."""
    return entered(Context(caller=caller))
