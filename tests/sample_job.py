"""A job of the sample corpus: a sync that waits for its continuation, and never gets it."""

from datetime import UTC, datetime
from typing import Any

from bio_mcp.ports.state import Job
from bio_mcp.syncing.cursor import Cursor

JOB = "sync_example"
WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def add_job(backends: Any) -> None:
    request = {"query_key": "of an example", "term": "migraine", "overlap_days": 5}
    progress = {"processed": 200, "expected": 1_000, "error": None, "reported": False}
    backends.jobs.put(Job(JOB, "sync", "waiting", WHEN, WHEN, request, Cursor(WHEN.date(), []).to_json(), progress))
