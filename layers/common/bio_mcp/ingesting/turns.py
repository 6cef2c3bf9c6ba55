"""Writers of one project, or review, take turns, and the newest goes first: it takes the lease from whoever has it.

A turn is short: what took long (reading, embedding) was done before, and is compared with what stands by now. Whose
turn is taken from, is refused at its next write, and does all of its work once more.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import uniform
from typing import TypeVar

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Conflict, TakenOver
from bio_mcp.ports import Backends
from bio_mcp.scope import holding

T = TypeVar("T")

TRIES = 12
FIRST_S, CAP_S = 0.1, 5.0  # of a pause, at most; longer than a turn takes


class TurnLost(Conflict):
    """Another writer came first: the work has to be done once more."""

    def __init__(self) -> None:
        super().__init__("others write into this without a pause; try again", retry_after_s=30)


@contextmanager
def turn(name: str, backends: Backends, of: str = "project") -> Iterator[None]:
    """Write to the project of this id, or what `of` says, in this block. Raises `TurnLost`, and what `Leases.take`
    does."""
    hold = backends.leases.take(f"{of}:{name}")
    with holding(hold):
        try:
            yield
        except TakenOver as problem:
            raise TurnLost from problem


def in_turns(work: Callable[[], T], deadline: Deadline) -> T:
    """Do `work`, which has turns, until none of them is lost. Raises `TurnLost` after `TRIES`."""
    for tried in range(TRIES - 1):
        try:
            return work()
        except TurnLost:
            deadline.pause(uniform(0, min(CAP_S, FIRST_S * 2**tried)))  # noqa: S311  no secret
    return work()
