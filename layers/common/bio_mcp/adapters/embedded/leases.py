"""Who may work on what, in the corpus file."""

import time
from collections.abc import Callable

from bio_mcp.adapters.embedded.database import Database


class SqliteLeases:
    """`bio_mcp.ports.Leases` over the corpus file. `clock` gives seconds, the same for every process."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def acquire(self, name: str, holder: str, seconds: float) -> bool:
        with self._database.writing() as connection:
            now = self._clock()
            taken = connection.execute(
                "INSERT INTO leases VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET "
                "holder = ?2, expires = ?3 WHERE holder = ?2 OR expires <= ?4",
                (name, holder, now + seconds, now),
            )
            return taken.rowcount > 0

    def release(self, name: str, holder: str) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM leases WHERE name = ? AND holder = ?", (name, holder))
