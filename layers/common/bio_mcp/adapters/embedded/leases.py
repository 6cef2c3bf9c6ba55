"""Leases, in the corpus file."""

import time
from collections.abc import Callable

from bio_mcp.adapters.embedded.database import Database


class SqliteLeases:
    """The port `Leases` over the corpus file. `clock` returns seconds and must agree between processes.

    The lease of a process that has ended is free at once, before it expires, whatever container the process ran in.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def acquire(self, name: str, holder: str, seconds: float) -> bool:
        presence = self._database.presence
        with self._database.writing() as connection:
            now = self._clock()
            lease = connection.execute("SELECT holder, expires, process FROM leases WHERE name = ?", (name,)).fetchone()
            if lease and lease[0] != holder and lease[1] > now and presence.is_running(lease[2]):
                return False
            connection.execute(
                "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", (name, holder, now + seconds, presence.mark)
            )
            return True

    def release(self, name: str, holder: str) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM leases WHERE name = ? AND holder = ?", (name, holder))
