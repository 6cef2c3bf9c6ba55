"""How often Python looks for garbage in reference cycles while records are read in bulk."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

ALLOCATIONS = 50_000  # of containers between two looks, in place of 700: those of some 300 records


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Look for reference cycles rarely in this block, and never among what was there before: records have none.

    It is a setting of the process: a block in another thread meanwhile changes nothing, and ends with the first one.
    """
    usual = gc.get_threshold()
    if usual[0] >= ALLOCATIONS:
        yield
        return
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
