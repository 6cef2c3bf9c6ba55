"""Who may work on what, in the corpus file."""

import time
from collections.abc import Callable

from bio_mcp.adapters.embedded.database import Database


class SqliteLeases:
    """`bio_mcp.ports.Leases` over the corpus file. `clock` gives seconds, the same for every process.

    The lease of a process that has ended is free at once, not only when it runs out; that of a process in another
    container is not taken for free while it runs.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def acquire(self, name: str, holder: str, seconds: float) -> bool:
        presence = self._database.presence
        with self._database.writing() as connection:
            now = self._clock()
            held = connection.execute("SELECT holder, expires, process FROM leases WHERE name = ?", (name,)).fetchone()
            if held and held[0] != holder and held[1] > now and presence.is_running(held[2]):
                return False
            connection.execute(
                "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", (name, holder, now + seconds, presence.mark)
            )
            return True

    def release(self, name: str, holder: str) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM leases WHERE name = ? AND holder = ?", (name, holder))
