"""Checks that a data directory is writable, its corpus file and index file undamaged, and its queue without dead
letters."""

import os
import shutil
from pathlib import Path

from bio_mcp.adapters.embedded.arrayfile import FREE, Reason, Unusable
from bio_mcp.adapters.embedded.continuations import SqliteContinuations
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.index import dimension
from bio_mcp.adapters.embedded.index_file import MIN_WINDOWS, NAME, changed, size_of, usable
from bio_mcp.adapters.embedded.integrity import Integrity
from bio_mcp.errors import IndexUnavailable, NotFound
from bio_mcp.health import FAIL, OK, WARN, Finding
from bio_mcp.ports.state import Jobs

LOW_DISK, FULL_DISK = 1 << 30, 100 << 20  # bytes of free disk
RESTORE = (
    "Stop every bio-mcp that uses the file and put back a copy of it, with no corpus.sqlite3-wal beside it; or move it "
    "away, and import, sync and ingest again."
)
REPAIRS = {
    "bio-mcp reindex": "Run `bio-mcp reindex`.",
    "ingest them again": "Ingest these documents again, with force_rebuild.",
}
"""What a problem names that repairs it -> the remedy."""


def data_directory(home: Path) -> Finding:
    """Check that `home` is writable, with room for the next import."""
    existing = next(directory for directory in (home, *home.absolute().parents) if directory.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        readable = existing == home and os.access(home, os.R_OK | os.X_OK)
        found = f"{home} cannot be written" + (": its corpus can be searched and not changed" if readable else "")
        remedy = "Make it writable for this user, or set BIO_MCP_HOME."
        return Finding(WARN if readable else FAIL, found, remedy)
    return space(home, shutil.disk_usage(existing).free)


def space(home: Path, free: int) -> Finding:
    """Check that `free` bytes are enough for the next import or sync."""
    found = f"{home}, {free / (1 << 30):.1f} GiB free"
    if free < FULL_DISK:
        return Finding(FAIL, found, "Free some space: the next import or sync may not fit.")
    return Finding(WARN if free < LOW_DISK else OK, found, "Free some space soon." if free < LOW_DISK else "")


def database(integrity: Integrity) -> Finding:
    """The result of the integrity check, with what to do about damage."""
    problems = integrity.problems
    if not problems:
        return Finding(OK, "whole")
    for repair, remedy in REPAIRS.items():
        if all(repair in problem for problem in problems):
            return Finding(FAIL, "; ".join(problems), remedy)
    return Finding(FAIL, "; ".join(problems), RESTORE)


def index_file(database: Database) -> Finding:
    """Whether a start can read the saved index, and whether it can be saved where that cannot be read."""
    path = database.directory / NAME
    with database.reading(IndexUnavailable) as connection:
        [windows] = connection.execute("SELECT coalesce(sum(windows), 0) FROM entries").fetchone()
        dim = dimension(connection)
        if windows <= MIN_WINDOWS:
            return Finding(OK, "not needed: a corpus of this size is read as fast")
        try:
            file = usable(path, connection, dim)
        except Unusable as unusable:
            reason = unusable.reason
        else:
            since = changed(connection, file.about["change"])
            return Finding(OK, f"{NAME}, {path.stat().st_size / (1 << 20):,.0f} MB, {since:,} papers changed since")
    found = f"{NAME} {reason}; a search does not use it, and reads the whole corpus file"
    if obstacle := _obstacle(path, FREE * size_of(windows, dim)):
        return Finding(WARN, found, f"{obstacle}; then the next start of a server makes it.")
    if reason is Reason.DAMAGED:
        return Finding(WARN, found, "The next search makes it again. If it is damaged again, check the disk.")
    return Finding(OK, f"{NAME} {reason}; the next search makes it")


def _obstacle(path: Path, needed: int) -> str:
    """What to do before the file at `path` can be written, which takes so many bytes of free disk; "" for nothing."""
    if path.is_dir():
        return f"Delete the directory {path.name}"
    if not os.access(path.parent, os.W_OK | os.X_OK):
        return f"Make {path.parent} writable for this user"
    free = shutil.disk_usage(path.parent).free
    return f"Free {(needed - free) / (1 << 30):.1f} GiB of disk" if free < needed else ""


def queue(continuations: SqliteContinuations, jobs: Jobs) -> Finding:
    """Check for dead letters whose job no later sync has continued."""
    dead = [
        f"{event['arguments'].get('query_key', event['tool'])}: {reason}"
        for event, reason in continuations.dead()
        if _is_stalled(event["arguments"].get("job_id"), jobs)
    ]
    if not dead:
        return Finding(OK, "nothing was given up")
    return Finding(WARN, f"given up: {'; '.join(dead)}", "Run the sync again: it continues where it stopped.")


def _is_stalled(job_id: str | None, jobs: Jobs) -> bool:
    try:
        return job_id is None or jobs.get(job_id).state == "stalled"
    except NotFound:
        return False
