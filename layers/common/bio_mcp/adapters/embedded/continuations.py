"""Tool calls to be made later, as a queue in the corpus file."""

import json
import sqlite3
import time
from collections.abc import Callable
from typing import Any

from bio_mcp.adapters.embedded.database import Database

BACKOFF_S = 2.0


class SqliteContinuations:
    """`bio_mcp.ports.Continuations` over the corpus file, and the receiving end for the local worker.

    An event that is received and neither acknowledged nor failed comes back when its lease ends. After
    `max_attempts` it is dead: kept with its last reason, never received again. Until then a failed one waits
    2, 4, 8, ... seconds. `clock` gives seconds, the same for every process.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time, max_attempts: int = 5) -> None:
        self._database = database
        self._clock = clock
        self._max_attempts = max_attempts

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO continuations (event, state, due, attempts) VALUES (?1, 'waiting', ?2, 0) "
                "ON CONFLICT (event) WHERE state = 'waiting' DO UPDATE SET due = min(due, ?2)",
                (_canonical(event), self._clock() + delay_s),
            )

    def receive(self, lease_s: float) -> tuple[str, dict[str, Any]] | None:
        """The event that is due longest, kept from other receivers for `lease_s` seconds; None when none is due.

        The id names this receipt: after the lease has ended and another one received the event, it does nothing.
        """
        now = self._clock()
        with self._database.writing() as connection:
            self._bury(connection, now)
            row = connection.execute(
                "UPDATE continuations SET state = 'leased', due = ?, attempts = attempts + 1 WHERE id = ("
                "SELECT id FROM continuations WHERE state <> 'dead' AND due <= ? ORDER BY due, id LIMIT 1) "
                "RETURNING id, attempts, event",
                (now + lease_s, now),
            ).fetchone()
        return (f"{row[0]}.{row[1]}", json.loads(row[2])) if row else None

    def ack(self, receipt: str) -> None:
        """The event has been handled: forget it."""
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM continuations WHERE id = ? AND attempts = ? AND state = 'leased'", _ids(receipt)
            )

    def fail(self, receipt: str, reason: str) -> None:
        """The event could not be handled: try it again later, or bury it after the last attempt."""
        with self._database.writing() as connection:
            row = connection.execute(
                "SELECT id, event, attempts FROM continuations WHERE id = ? AND attempts = ? AND state = 'leased'",
                _ids(receipt),
            ).fetchone()
            if row is None:
                return
            found, event, attempts = row
            if attempts >= self._max_attempts:
                connection.execute("UPDATE continuations SET state = 'dead', reason = ? WHERE id = ?", (reason, found))
            elif _waiting(connection, event):
                connection.execute("DELETE FROM continuations WHERE id = ?", (found,))
            else:
                due = self._clock() + BACKOFF_S**attempts
                connection.execute(
                    "UPDATE continuations SET state = 'waiting', due = ?, reason = ? WHERE id = ?", (due, reason, found)
                )

    def dead(self) -> list[tuple[dict[str, Any], str]]:
        """The events that were given up, oldest first, each with the reason of its last failure."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT event, reason FROM continuations WHERE state = 'dead' ORDER BY id"
            ).fetchall()
        return [(json.loads(event), reason) for event, reason in rows]

    def _bury(self, connection: sqlite3.Connection, now: float) -> None:
        """Give up what its last receiver never answered for: it may be what kills the receivers."""
        connection.execute(
            "UPDATE continuations SET state = 'dead', reason = 'the receiver never answered' "
            "WHERE state = 'leased' AND due <= ? AND attempts >= ?",
            (now, self._max_attempts),
        )


def _canonical(event: dict[str, Any]) -> str:
    return json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _ids(receipt: str) -> tuple[int, int]:
    row, attempt = receipt.split(".")
    return int(row), int(attempt)


def _waiting(connection: sqlite3.Connection, event: str) -> bool:
    """Whether an equal event waits already, so that this one need not."""
    found = connection.execute("SELECT 1 FROM continuations WHERE event = ? AND state = 'waiting'", (event,)).fetchone()
    return found is not None
