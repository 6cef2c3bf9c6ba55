"""Budgets, in a SQLite file of their own, `budgets.sqlite3`; whoever deletes it gives everybody a new budget."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bio_mcp.adapters.embedded.side_file import SideFile
from bio_mcp.ports.budgets import Allowance, Charge

FILE = "budgets.sqlite3"
SCHEMA_VERSION = 1
SCHEMA = """
    CREATE TABLE spent (
        account TEXT NOT NULL, unit TEXT NOT NULL, seconds INTEGER NOT NULL, ends REAL NOT NULL,
        amount INTEGER NOT NULL, PRIMARY KEY (account, unit, seconds)
    ) WITHOUT ROWID;
    CREATE INDEX spent_by_end ON spent (ends);
"""


class SqliteBudgets:
    """The port `Budgets` in `directory`. `clock` returns seconds since 1970.

    Threads may share an instance, and processes the file; the last charges may be lost in a power cut.
    """

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = SideFile(directory / FILE, "budgets", SCHEMA, SCHEMA_VERSION)
        self._clock = clock

    def spend(self, charges: Sequence[Charge]) -> list[Allowance]:
        now = self._clock()
        with self._file.transaction("BEGIN IMMEDIATE") as connection:
            connection.execute("DELETE FROM spent WHERE ends <= ?", (now,))
            before = [_spent(connection, each) for each in charges]
            granted = all(_fits(each, spent) for each, spent in zip(charges, before, strict=True))
            after = [_add(connection, each, now) for each in charges] if granted else before
        return [
            Allowance(each, granted, max(0, each.most - spent), _ends(each, now) - now)
            for each, spent in zip(charges, after, strict=True)
        ]

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        self._file.close()


def _fits(charge: Charge, spent: int) -> bool:
    return charge.amount <= 0 or spent + charge.amount <= charge.most


def _ends(charge: Charge, now: float) -> float:
    """When the period that `now` is in ends: periods are counted from 1970."""
    return (now // charge.seconds + 1) * charge.seconds


def _spent(connection: sqlite3.Connection, charge: Charge) -> int:
    row = connection.execute(
        "SELECT amount FROM spent WHERE account = ? AND unit = ? AND seconds = ?",
        (charge.account, charge.unit, charge.seconds),
    ).fetchone()
    return row[0] if row else 0


def _add(connection: sqlite3.Connection, charge: Charge, now: float) -> int:
    """Charge it; returns what is spent now."""
    [(spent,)] = connection.execute(
        "INSERT INTO spent VALUES (?, ?, ?, ?, max(0, ?)) "
        "ON CONFLICT DO UPDATE SET amount = max(0, amount + ?) RETURNING amount",
        (charge.account, charge.unit, charge.seconds, _ends(charge, now), charge.amount, charge.amount),
    ).fetchall()
    return int(spent)
