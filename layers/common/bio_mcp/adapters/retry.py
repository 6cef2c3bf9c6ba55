"""Trying again, within bounds. Every adapter does it with `retry`, or between the parts of an answer with `pause`."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Failure
from bio_mcp.scope import call_deadline

T = TypeVar("T")
Worth = Mapping[type[Failure], int]
"""How many tries in all a kind of failure is worth; a failure counts as its nearest ancestor."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often something is tried, and how long the pauses are.

    Seconds after try n, from 1: min(cap_s, first_s * 2**(n - 1)), give or take the share `jitter`, at random. A
    failure that asks for a longer pause (`retry_after_s`) gets it, unless that is more than `patience_s`: then nothing
    is tried again. Six tries with the defaults pause 1, 2, 4, 8 and 16 s, 31 s in all give or take 8.

    `rng` gives numbers in [0, 1); tests give their own, and their own `sleep`.
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


def retry(
    attempt: Callable[[], T],
    *,
    worth: Worth | type[Failure],
    backoff: Backoff,
    deadline: Deadline | None = None,
    waiting: Callable[[int, int], None] = lambda _next_try, _of: None,
) -> T:
    """Call `attempt` until it succeeds, and return what it returns.

    `worth` names the failures that may pass, and how many tries each is worth, never more than `backoff.tries`; a kind
    by itself is worth all of them. Whatever else is raised ends it at once: there is no default. An answer that says
    "not yet" is raised by `attempt` as one of those failures. `deadline` is by default that of the call that runs.

    The last failure is raised as it came, with the number of tries in its `details`. No pause is begun that would
    outlast the deadline: a call gives up before its time is over, often long before, and by the failure's own
    sentence, not by `DeadlineExceeded`. The first try is made whatever the time is.

    `waiting(next_try, of)` is called before each pause.
    """
    worth = {worth: backoff.tries} if isinstance(worth, type) else worth
    deadline = deadline or call_deadline()
    tried = 0
    while True:
        tried += 1
        try:
            return attempt()
        except tuple(worth) as failure:
            pause = backoff.pause_s(tried, failure.retry_after_s)
            most = min(backoff.tries, next(worth[kind] for kind in type(failure).__mro__ if kind in worth))
            if tried >= most or pause >= deadline.remaining or (failure.retry_after_s or 0) > backoff.patience_s:
                failure.details.setdefault("tries", tried)
                raise
        except DeadlineExceeded as failure:
            failure.details.setdefault("tries", tried)
            raise
        waiting(tried + 1, most)
        backoff.sleep(pause)


def pause(tried: int, backoff: Backoff, failure: Failure) -> None:
    """Pause between tries each of which brings a part of what is wanted, as `retry` does after so many.

    Raises `failure` rather than begin a pause that would outlast the deadline of the call that runs.
    """
    seconds = backoff.pause_s(tried)
    if seconds >= call_deadline().remaining:
        raise failure
    backoff.sleep(seconds)
