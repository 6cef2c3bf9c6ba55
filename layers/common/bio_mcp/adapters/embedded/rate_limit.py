"""The rate limiter of every process of a data directory: the time of the next free turn at NCBI is in `pace.sqlite3`.

A process that finds the turn free takes it and moves it on by the gap, in one transaction; others sleep until it is
free and look again. Of the shares that wait, the one whose last turn was the longest ago has the next one: each notes
until when it will have looked again, and the others leave the turn to it until then. Nothing is reserved, so a killed
process wastes `LATE_S` at most, and a cool-down stops every request that has not started. The gap and `LATE_S` are
those of `bio_mcp.adapters.aws.rate_limit`, whose proof holds here too.

Time is the machine's monotonic clock, which its processes share and nobody can set. It restarts at each boot, so turns
stored by an earlier boot are ignored.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from bio_mcp.adapters.embedded.database import WRITE
from bio_mcp.adapters.embedded.side_files import BUSY_S, SideFile
from bio_mcp.adapters.rate_limit import LATE_S, too_late
from bio_mcp.deadline import Clock, Deadline
from bio_mcp.errors import StoreFailed
from bio_mcp.ports.ncbi import RateLimiter

T = TypeVar("T")
log = logging.getLogger("bio_mcp.pace")

LONGEST_S = 3_600.0  # no turn is further ahead, so a later one was stored by another boot
NEVER = -1.0
YIELD_S = 0.01  # until a turn that is left to another share is looked at again
FORGOTTEN_S = 60.0  # after which a share that does not wait is as good as new


class SqliteRateLimiter(SideFile):
    """The port `RateLimiter` over a file in `directory`, one for all users of `budget`.

    `local` is the rate limiter of this process: it orders its threads, and paces them alone, with a warning in the
    log, while the file cannot be used. Threads may share an instance; one at a time reads the file. `busy_s` is how
    long another process may hold it: one that does for longer is suspended.
    """

    file, what = "pace.sqlite3", "the pace of NCBI"
    journal = "PERSIST"  # which processes that make the file at once need not wait for
    schema = """
        CREATE TABLE turns (
            budget TEXT PRIMARY KEY, boot TEXT NOT NULL, free_at REAL NOT NULL, cool_until REAL NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE shares (
            budget TEXT NOT NULL, share TEXT NOT NULL, boot TEXT NOT NULL, served REAL NOT NULL,
            waits_until REAL NOT NULL, PRIMARY KEY (budget, share)
        ) WITHOUT ROWID;
    """

    def __init__(
        self,
        directory: Path,
        budget: str,
        gap: float,
        local: RateLimiter,
        clock: Clock = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        busy_s: float = BUSY_S,
    ) -> None:
        super().__init__(directory, clock)
        self.busy_s, self._budget, self._gap, self._local, self._sleep = busy_s, budget, gap, local, sleep
        self._boot = ""  # where the kernel has no id of this boot of the machine
        with suppress(OSError):
            self._boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self._share_locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._failing = False

    def wait(self, deadline: Deadline, share: str = "") -> None:
        self._local.wait(deadline, share)
        first = self._share_locks.setdefault(share, threading.Lock())
        if not first.acquire(timeout=min(deadline.remaining, threading.TIMEOUT_MAX)):
            raise too_late(self._gap, cooling=False)
        try:
            while (turn := self._transact(partial(self._take, share))) is not None:
                began, seconds, cooling = turn
                if seconds >= deadline.remaining:
                    raise too_late(seconds, cooling)
                if seconds > 0:
                    self._sleep(seconds)
                elif self._clock() - began <= LATE_S:
                    return
        finally:
            first.release()

    def cool_down(self, seconds: float) -> None:
        self._local.cool_down(seconds)

        def extend(turns: sqlite3.Connection) -> None:
            now = self._clock()
            free_at, cool_until = self._read(turns, now)
            until = now + min(seconds, LONGEST_S)
            self._write(turns, max(free_at, until), max(cool_until, until))

        self._transact(extend)

    def _take(self, share: str, turns: sqlite3.Connection) -> tuple[float, float, bool]:
        """Take the turn if it is free and this share's. Returns the time, the seconds until it is to be looked at again
        (0: taken), and whether NCBI asked for the wait."""
        now = self._clock()
        free_at, cool_until = self._read(turns, now)
        key = (self._budget, share, self._boot)
        row = turns.execute("SELECT served FROM shares WHERE budget = ? AND share = ? AND boot = ?", key).fetchone()
        served = row[0] if row else NEVER
        waiting = "SELECT 1 FROM shares WHERE budget = ? AND boot = ? AND served < ? AND waits_until BETWEEN ? AND ?"
        first = turns.execute(waiting, (self._budget, self._boot, served, now, now + LONGEST_S)).fetchone()
        seconds = max(0.0, free_at - now) or (YIELD_S if first else 0.0)
        if not seconds:
            self._write(turns, now + self._gap, cool_until)
            turns.execute("DELETE FROM shares WHERE waits_until < ?", (now - FORGOTTEN_S,))
        noted = (served, now + seconds + LATE_S) if seconds else (now, now)
        turns.execute("INSERT OR REPLACE INTO shares VALUES (?, ?, ?, ?, ?)", (self._budget, share, self._boot, *noted))
        return now, seconds, now < cool_until

    def _read(self, turns: sqlite3.Connection, now: float) -> tuple[float, float]:
        """When the turn is free, and when the last cool-down ends, on this boot's clock."""
        row = turns.execute("SELECT boot, free_at, cool_until FROM turns WHERE budget = ?", (self._budget,)).fetchone()
        if row is None or row[0] != self._boot or row[1] > now + LONGEST_S:
            return now, now
        return row[1], row[2]

    def _write(self, turns: sqlite3.Connection, free_at: float, cool_until: float) -> None:
        row = (self._budget, self._boot, free_at, cool_until)
        turns.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?)", row)

    def _transact(self, change: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `change` in a transaction that excludes other processes; None if the file cannot be used."""
        try:
            with self.transaction(WRITE) as turns:
                result = change(turns)
        except StoreFailed as failure:
            if not self._failing:
                log.warning("%s cannot be used (%s): requests of this process are paced alone", self.file, failure)
            self._failing = True
            return None
        self._failing = False
        return result
