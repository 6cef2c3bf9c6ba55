"""What a transaction changed in a SQLite file, as the statements that change another copy of it in the same way."""

import json
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from struct import Struct
from typing import Any

from bio_mcp.adapters.embedded.opening import Connection

Statement = tuple[str, list[Sequence[Any]]]  # SQL, and the values of each time that it was carried out
CHANGES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE)\b", re.IGNORECASE)
HEAD = Struct("<I")  # bytes of the JSON that follows
LEVEL = 1  # of zlib: text shrinks to a third, vectors hardly do


class RecordingConnection(Connection):
    """Notes each statement that changes rows, once it was carried out, while it is `recording`."""

    _noted: list[Statement] | None = None

    @contextmanager
    def recording(self) -> Iterator[list[Statement]]:
        """Note statements in the list that is given."""
        self._noted = []
        try:
            yield self._noted
        finally:
            self._noted = None

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        cursor = super().execute(sql, parameters)
        self._note(sql, [parameters])
        return cursor

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        rows = list(parameters)
        cursor = super().executemany(sql, rows)
        self._note(sql, rows)
        return cursor

    def _note(self, sql: str, rows: list[Sequence[Any]]) -> None:
        if self._noted is not None and rows and CHANGES.match(sql):
            self._noted.append((sql, rows))


def encoded(statements: Iterable[Statement]) -> bytes:
    """The statements as bytes: JSON, whose blobs stand behind it."""
    blobs: list[bytes] = []
    rows = [[sql, [[_named(value, blobs) for value in row] for row in values]] for sql, values in statements]
    head = json.dumps({"blobs": [len(each) for each in blobs], "statements": rows}).encode()
    return zlib.compress(b"".join([HEAD.pack(len(head)), head, *blobs]), LEVEL)


def decoded(content: bytes) -> list[Statement]:
    """The statements of such bytes."""
    whole = zlib.decompress(content)
    start = HEAD.size + HEAD.unpack_from(whole)[0]
    fields = json.loads(whole[HEAD.size : start])
    blobs = []
    for size in fields["blobs"]:
        blobs.append(whole[start : start + size])
        start += size
    return [(sql, [[_value(each, blobs) for each in row] for row in rows]) for sql, rows in fields["statements"]]


def _named(value: Any, blobs: list[bytes]) -> Any:
    """The value as JSON: of a blob its place among `blobs`."""
    if isinstance(value, str | int | float | None):
        return value
    blobs.append(bytes(value))
    return [len(blobs) - 1]


def _value(named: Any, blobs: Sequence[bytes]) -> Any:
    return blobs[named[0]] if isinstance(named, list) else named
