"""Whether a data directory can be written, its corpus file is whole and its queue has given up nothing."""

import os
import shutil
from pathlib import Path

from bio_mcp.adapters.embedded.continuations import SqliteContinuations
from bio_mcp.adapters.embedded.integrity import Integrity
from bio_mcp.errors import NotFound
from bio_mcp.health import FAIL, OK, WARN, Finding
from bio_mcp.ports.state import Jobs

LITTLE, TOO_LITTLE = 1 << 30, 100 << 20  # bytes of free disk
RESTORE = (
    "Stop every bio-mcp that uses the file and put back a copy of it, with no corpus.sqlite3-wal beside it; or move it "
    "away, import and sync again."
)


def data_directory(home: Path) -> Finding:
    """Whether `home` can be written, with room for the next import."""
    there = next(each for each in (home, *home.absolute().parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        readable = there == home and os.access(home, os.R_OK | os.X_OK)
        found = f"{home} cannot be written" + (": its corpus can be searched and not changed" if readable else "")
        remedy = "Make it writable for this user, or set BIO_MCP_HOME."
        return Finding(WARN if readable else FAIL, found, remedy)
    return space(home, shutil.disk_usage(there).free)


def space(home: Path, free: int) -> Finding:
    """Whether `free` bytes are enough for the next import or sync."""
    found = f"{home}, {free / (1 << 30):.1f} GiB free"
    if free < TOO_LITTLE:
        return Finding(FAIL, found, "Free some space: the next import or sync may not fit.")
    return Finding(WARN if free < LITTLE else OK, found, "Free some space soon." if free < LITTLE else "")


def database(integrity: Integrity) -> Finding:
    """Whether the corpus file is whole."""
    problems = integrity.problems
    if not problems:
        return Finding(OK, "whole")
    if all("bio-mcp reindex" in each for each in problems):
        return Finding(FAIL, "; ".join(problems), "Run `bio-mcp reindex`.")
    return Finding(FAIL, "; ".join(problems), RESTORE)


def queue(continuations: SqliteContinuations, jobs: Jobs) -> Finding:
    """What the queue has given up and nobody has taken up since."""
    lost = [
        f"{event['arguments'].get('query_key', event['tool'])}: {reason}"
        for event, reason in continuations.dead()
        if _is_lost(event["arguments"].get("job_id"), jobs)
    ]
    if not lost:
        return Finding(OK, "nothing was given up")
    return Finding(WARN, f"given up: {'; '.join(lost)}", "Run the sync again: it goes on where it stopped.")


def _is_lost(job_id: str | None, jobs: Jobs) -> bool:
    try:
        return job_id is None or jobs.get(job_id).state == "stalled"
    except NotFound:
        return False
