"""A queue of tool calls to make later, in the corpus file."""

import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import Any

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.processes import Presence
from bio_mcp.adapters.retry import Backoff

MAX_ATTEMPTS = 105  # with the pauses of `BACKOFF`, over some 24 hours
MAX_UNANSWERED = 10  # receivers that ended without ack or fail; the event may be what kills them
BACKOFF = Backoff(first_s=2.0, cap_s=900.0)


class SqliteContinuations:
    """The port `WorkQueue` over the corpus file.

    A received event that is neither acknowledged nor failed becomes due again when its lease ends, or as soon as the
    process that received it has ended. After `max_attempts` it is a dead letter: stored with its last reason and not
    received again unless it is sent again. `clock` returns seconds and must agree between processes.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float] = time.time,
        max_attempts: int = MAX_ATTEMPTS,
        backoff: Backoff = BACKOFF,
    ) -> None:
        self._database = database
        self._clock = clock
        self._max_attempts = max_attempts
        self._backoff = backoff

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        text = _canonical(event)
        with self._database.writing() as connection:
            connection.execute("DELETE FROM continuations WHERE event = ? AND state = 'dead'", (text,))
            connection.execute(
                "INSERT INTO continuations (event, state, due, attempts) VALUES (?1, 'waiting', ?2, 0) "
                "ON CONFLICT (event) WHERE state = 'waiting' DO UPDATE SET due = min(due, ?2)",
                (text, self._clock() + delay_s),
            )

    def receive(self, lease_s: float) -> tuple[str, dict[str, Any]] | None:
        """Lease the event that has been due longest for `lease_s` seconds; None if none is due.

        Returns (receipt, event). The receipt expires with the lease: once another receiver has the event, it does
        nothing.
        """
        now, presence = self._clock(), self._database.presence
        with self._database.writing() as connection:
            self._release(connection, now, presence)
            self._bury(connection, now)
            row = connection.execute(
                "UPDATE continuations SET unanswered = unanswered + (state = 'leased'), state = 'leased', due = ?, "
                "attempts = attempts + 1, process = ? WHERE id = ("
                "SELECT id FROM continuations WHERE state <> 'dead' AND due <= ? ORDER BY due, id LIMIT 1) "
                "RETURNING id, attempts, event",
                (now + lease_s, presence.mark, now),
            ).fetchone()
        return (f"{row[0]}.{row[1]}", json.loads(row[2])) if row else None

    def ack(self, receipt: str) -> None:
        """Delete a handled event."""
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM continuations WHERE id = ? AND attempts = ? AND state = 'leased'", _ids(receipt)
            )

    def fail(self, receipt: str, reason: str, *, retryable: bool = True, wait_s: float | None = None) -> float | None:
        with self._database.writing() as connection:
            row = connection.execute(
                "SELECT id, event, attempts FROM continuations WHERE id = ? AND attempts = ? AND state = 'leased'",
                _ids(receipt),
            ).fetchone()
            if row is None:
                return 0.0
            row_id, event, attempts = row
            if attempts >= self._max_attempts or not retryable:
                connection.execute("UPDATE continuations SET state = 'dead', reason = ? WHERE id = ?", (reason, row_id))
                return None
            wait_s = self._backoff.pause_s(attempts) if wait_s is None else wait_s
            if _is_queued(connection, event):
                connection.execute("DELETE FROM continuations WHERE id = ?", (row_id,))
            else:
                connection.execute(
                    "UPDATE continuations SET state = 'waiting', due = ?, reason = ?, unanswered = 0 WHERE id = ?",
                    (self._clock() + wait_s, reason, row_id),
                )
            return wait_s

    def hold(self, receipt: str, seconds: float) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE continuations SET due = ? WHERE id = ? AND attempts = ? AND state = 'leased'",
                (self._clock() + seconds, *_ids(receipt)),
            )

    def early_s(self, _attributes: Mapping[str, Mapping[str, Any]]) -> float:
        """0: no event is received before it is due."""
        return 0.0

    def dead(self) -> list[tuple[dict[str, Any], str]]:
        """List the dead letters, oldest first, each with the reason of its last failure."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT event, reason FROM continuations WHERE state = 'dead' ORDER BY id"
            ).fetchall()
        return [(json.loads(event), reason) for event, reason in rows]

    def _release(self, connection: sqlite3.Connection, now: float, presence: Presence) -> None:
        """Make due what ended processes had received."""
        query = "SELECT DISTINCT process FROM continuations WHERE state = 'leased' AND due > ?"
        for (mark,) in connection.execute(query, (now,)).fetchall():
            if not presence.is_running(mark):
                change = "UPDATE continuations SET due = ? WHERE state = 'leased' AND process = ?"
                connection.execute(change, (now, mark))

    def _bury(self, connection: sqlite3.Connection, now: float) -> None:
        """Make dead letters of events whose last receivers ended without an answer: the event may be what kills
        them."""
        connection.execute(
            "UPDATE continuations SET state = 'dead', reason = 'the receiver never answered' "
            "WHERE state = 'leased' AND due <= ? AND (unanswered + 1 >= ? OR attempts >= ?)",
            (now, MAX_UNANSWERED, self._max_attempts),
        )


def _canonical(event: dict[str, Any]) -> str:
    return json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _ids(receipt: str) -> tuple[int, int]:
    row, attempt = receipt.split(".")
    return int(row), int(attempt)


def _is_queued(connection: sqlite3.Connection, event: str) -> bool:
    """Whether an equal event is already queued."""
    found = connection.execute("SELECT 1 FROM continuations WHERE event = ? AND state = 'waiting'", (event,)).fetchone()
    return found is not None
