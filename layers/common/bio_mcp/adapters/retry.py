"""Trying again, within bounds."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Failure

T = TypeVar("T")
Worth = Mapping[type[Failure], int]
"""How many tries in all a kind of failure is worth; a failure counts as its nearest ancestor."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pause after try n (from 1): min(cap_s, first_s * 2**(n-1)), give or take the share `jitter`.

    `tries` bounds every failure's worth. A failure that asks for a longer pause (`retry_after_s`) gets it;
    one that asks for more than `patience_s` is raised instead. `rng` gives numbers in [0, 1).
    """

    tries: int = 6
    first_s: float = 1.0
    cap_s: float = 30.0
    jitter: float = 0.25
    patience_s: float = 120.0
    rng: Callable[[], float] = random.random
    sleep: Callable[[float], None] = time.sleep

    def pause_s(self, tried: int, asked_s: float | None = None) -> float:
        """Seconds to wait after `tried` tries, at least `asked_s`."""
        steady = min(self.cap_s, self.first_s * 2.0 ** (tried - 1))
        return max(steady * (1 + self.jitter * (2 * self.rng() - 1)), asked_s or 0.0)


def _silent(_attempt: int, _of: int) -> None:
    """Nobody wants to know."""


def retry(
    attempt: Callable[[], T],
    *,
    worth: Worth,
    deadline: Deadline,
    backoff: Backoff,
    waiting: Callable[[int, int], None] = _silent,
) -> T:
    """The first success of `attempt`; there is no default for what is worth a second try. Before each pause `waiting`
    is told which try comes next, and how many there may be.

    The last failure is raised as it came, its `details` saying after how many tries, when it is worth no more,
    when the pause would outlast the deadline, or when what is raised is not in `worth` at all.
    """
    tried = 0
    while True:
        tried += 1
        try:
            return attempt()
        except tuple(worth) as failure:
            pause = backoff.pause_s(tried, failure.retry_after_s)
            most = min(backoff.tries, _worth_of(failure, worth))
            if tried >= most or pause >= deadline.remaining or (failure.retry_after_s or 0) > backoff.patience_s:
                failure.details.setdefault("tries", tried)
                raise
        except DeadlineExceeded as failure:
            failure.details.setdefault("tries", tried)
            raise
        waiting(tried + 1, most)
        backoff.sleep(pause)


def _worth_of(failure: Failure, worth: Worth) -> int:
    return next(worth[kind] for kind in type(failure).__mro__ if kind in worth)
