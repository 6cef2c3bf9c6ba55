"""A first load as it would run, batch by batch, with functions that die and an index that refuses writes.

It counts the time that is paid for, which the estimate of `load` leaves out: work that was lost with its function, and
waiting for the index.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from scripts.cost import Rates

BATCH = 200  # records that become durable together
TRIES = 6  # of a file, one after the other without a batch in between; then it is listed as failed
FIRST_WAIT_S, LONGEST_WAIT_S = 2.0, 300.0


@dataclass(frozen=True, slots=True)
class Faults:
    """`death` is the chance that a function dies during a batch, `broken` that a file can never be read to its end.

    `index_per_s` records are taken by the index in a second, `queue` batches may wait for it; the next is refused.
    """

    death: float = 0.0
    broken: float = 0.0
    index_per_s: float = float("inf")
    queue: int = 200


@dataclass(slots=True)
class Simulated:
    """`paid_s` seconds of functions for `records` that became durable in `elapsed_s`; `written` counts every write."""

    elapsed_s: float = 0.0
    paid_s: float = 0.0
    records: int = 0
    written: int = 0
    deaths: int = 0
    refused: int = 0
    failed: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _File:
    """`embedded` says that its next batch only has to be written."""

    number: int
    left: int
    broken: bool
    tries: int = 0
    embedded: bool = False


def simulate(files: Sequence[int], loaders: int, rates: Rates, faults: Faults, seed: int) -> Simulated:
    """Load `files`, given by their records, by `loaders` functions at once."""
    run = _Run(rates, faults, random.Random(seed))  # noqa: S311  no secret
    waiting = [_File(number, records, run.chance(faults.broken)) for number, records in enumerate(files)][::-1]
    running: list[tuple[float, int, _File]] = []
    while waiting or running:
        while waiting and len(running) < loaders:
            given = waiting.pop()
            heappush(running, (run.now, given.number, given))
        run.now, _, at = heappop(running)
        following = run.write(at) if at.embedded else run.embed(at)
        if at.left and at.tries < TRIES:
            heappush(running, (following, at.number, at))
        elif at.left:
            run.result.failed.append(at.number)
    run.result.elapsed_s = max(run.now, run.index_free)
    run.result.failed.sort()
    return run.result


@dataclass(slots=True)
class _Run:
    rates: Rates
    faults: Faults
    dice: random.Random
    result: Simulated = field(default_factory=Simulated)
    now: float = 0.0
    index_free: float = 0.0  # when it has taken all that waits for it

    def chance(self, of: float) -> bool:
        return self.dice.random() < of

    def embed(self, at: _File) -> float:
        """Parse and embed the next batch of a file. Returns when it goes on."""
        if at.broken and at.left <= BATCH:
            return self._die(at, 0.0)
        seconds = min(BATCH, at.left) * (1 / self.rates.embedded + 1 / self.rates.imported)
        if self.chance(self.faults.death / 2):
            return self._die(at, seconds * self.dice.random())
        self.result.paid_s += seconds
        at.embedded = True
        return self.now + seconds

    def write(self, at: _File) -> float:
        """Write an embedded batch, unless the index refuses it. Returns when the file goes on."""
        size, a_batch = min(BATCH, at.left), BATCH / self.faults.index_per_s
        if self.index_free - self.now > self.faults.queue * a_batch:
            self.result.refused += 1
            seconds = FIRST_WAIT_S * (1 + self.dice.random())
            self.result.paid_s += seconds
            return self.now + seconds
        self.index_free = max(self.index_free, self.now) + size / self.faults.index_per_s
        self.result.written += size
        at.embedded = False
        if self.chance(self.faults.death / 2):  # its papers are indexed and not marked so: they are done again
            return self._die(at, self.index_free - self.now)
        at.left, at.tries = at.left - size, 0
        self.result.records += size
        self.result.paid_s += self.index_free - self.now
        return self.index_free

    def _die(self, at: _File, paid: float) -> float:
        """Count a function that ended early. Returns when the file is tried again."""
        self.result.deaths += 1
        self.result.paid_s += paid
        at.tries += 1
        return self.now + paid + min(LONGEST_WAIT_S, FIRST_WAIT_S * (1 << at.tries))
