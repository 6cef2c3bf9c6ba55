"""How far a copy of an index is, written in the same transaction as what brought it there."""

import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from bio_mcp.adapters.aws.snapshots.statements import decoded

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.snapshots.manifest import Change
    from bio_mcp.adapters.aws.snapshots.objects import IndexObjects

THREADS = 8  # that download at once


def position_of(connection: sqlite3.Connection) -> int:
    """The position of the copy; 0 before the first change."""
    row = connection.execute("SELECT value FROM settings WHERE name = 'published'").fetchone()
    return int(row[0]) if row else 0


def put_position(connection: sqlite3.Connection, position: int) -> None:
    """Write the position, as one more statement of the transaction."""
    connection.execute("INSERT OR REPLACE INTO settings VALUES ('published', ?)", (position,))


def apply(connection: sqlite3.Connection, objects: "IndexObjects", changes: "Sequence[Change]") -> None:
    """Carry out changes that follow each other, and with them their positions."""
    with ThreadPoolExecutor(THREADS) as threads:
        for content in threads.map(objects.get, [each.key for each in changes]):
            for sql, rows in decoded(content):
                connection.executemany(sql, rows)
