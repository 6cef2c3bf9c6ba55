"""SQLite errors translated into failures with a message that helps the user."""

import sqlite3

from bio_mcp.errors import Failure

DAMAGED = (
    "The corpus file is damaged; it has been left as it is. Run `bio-mcp doctor`; then stop every bio-mcp that uses it "
    "and put back a copy of the file, or move it away, and import, sync and ingest again."
)
FULL = (
    "No space is left on the disk of the corpus. Nothing of this batch was stored and all earlier ones are intact; "
    "free some space and repeat the call."
)
BUSY = "Another program has been writing to the corpus for too long. Nothing was changed; try again."
READ_ONLY = (
    "The corpus cannot be written: make its data directory (BIO_MCP_HOME) writable for this user, or choose another "
    "one."
)
CLOSED = (
    "The corpus cannot be opened: check that its data directory (BIO_MCP_HOME) exists and that this user may read and "
    "write it."
)
OLDER = (
    "The corpus was written by an older bio-mcp and cannot be brought up to date where it cannot be written: make its "
    "data directory (BIO_MCP_HOME) writable for this user."
)
GONE = "The corpus file is no longer where it was: put it back, or restart this program."
REPLACED = (
    "Another file was put in the corpus file's place while this was being written, and may not hold it; repeat the "
    "call."
)
DISK = (
    "The disk of the corpus failed to read or write. Nothing of this batch was stored; try again, then check the disk."
)

SENTENCES: dict[int, tuple[str, bool]] = {
    sqlite3.SQLITE_BUSY: (BUSY, True),
    sqlite3.SQLITE_LOCKED: (BUSY, True),
    sqlite3.SQLITE_FULL: (FULL, True),
    sqlite3.SQLITE_CORRUPT: (DAMAGED, False),
    sqlite3.SQLITE_NOTADB: (DAMAGED, False),
    sqlite3.SQLITE_READONLY: (READ_ONLY, False),
    sqlite3.SQLITE_PERM: (READ_ONLY, False),
    sqlite3.SQLITE_CANTOPEN: (CLOSED, False),
    sqlite3.SQLITE_IOERR: (DISK, True),
    sqlite3.SQLITE_IOERR_SHMSIZE: (FULL, True),  # no room for the write-ahead log's shared memory
}


LOST = (
    "no such table",
    "no such column",
    "Could not decode to UTF-8",
)  # errors of our own SQL that only a damaged file causes


def translate(error: sqlite3.Error, kind: type[Failure]) -> Failure | None:
    """The failure of class `kind` that explains `error`; None if the error is a mistake in our own SQL."""
    if str(error).startswith(LOST):
        return kind(DAMAGED, retryable=False)
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    known = SENTENCES.get(code) or SENTENCES.get(code & 0xFF)
    if known is None:
        return None
    sentence, retryable = known
    return kind(sentence, retryable=retryable)
