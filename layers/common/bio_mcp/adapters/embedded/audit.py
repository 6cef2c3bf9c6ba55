"""The audit log of changes made by hand, in the corpus file."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.literature.clock import utc_now


class SqliteAudit:
    """The port `Audit` over the corpus file."""

    def __init__(self, database: Database, now: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._now = now

    def record(self, action: str, subject: str, before: Any, after: Any, caller: str | None = None) -> None:
        row = (self._now().isoformat(), action, subject, json.dumps(before), json.dumps(after), caller)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO audit (at, action, subject, before, after, caller) VALUES (?, ?, ?, ?, ?, ?)", row
            )

    def entries(self) -> list[dict[str, Any]]:
        """List every change, oldest first, with the keys at (ISO 8601), action, subject, before, after and caller."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT at, action, subject, before, after, caller FROM audit ORDER BY id"
            ).fetchall()
        return [
            {
                "at": at,
                "action": action,
                "subject": subject,
                "before": json.loads(before),
                "after": json.loads(after),
                "caller": caller,
            }
            for at, action, subject, before, after, caller in rows
        ]
