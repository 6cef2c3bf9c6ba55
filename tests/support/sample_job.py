"""What stands in the sample corpus: a sync that waits and never goes on, an export that is done, a query with news."""

from datetime import UTC, datetime
from typing import Any

from bio_mcp.exporting.run import ExportCursor
from bio_mcp.ports.state import Found, Job
from bio_mcp.syncing.cursor import SyncCursor

JOB, EXPORT = "sync_example", "export_example"
QUERY, PMID = "migraine", "17727691"
WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def add_job(backends: Any) -> None:
    request = {"query_key": "of an example", "term": "migraine", "overlap_days": 5}
    progress = {"processed": 200, "expected": 1_000, "error": None, "reported": False}
    backends.jobs.put(Job(JOB, "sync", "waiting", WHEN, WHEN, request, SyncCursor(WHEN.date(), []).to_json(), progress))
    text = b"TY  - JOUR\nTI  - Migraine\nER  - \n"
    key = backends.blobs.put("exports", text, ".ris")
    done = ExportCursor("", 1, 1, 1, len(text), [key], file=key).to_json()
    exported = {"query_key": "of an export", "arguments": {"format": "ris", "pmids": ["1"]}}
    backends.jobs.put(Job(EXPORT, "export", "succeeded", WHEN, WHEN, exported, done, {**progress, "reported": True}))
    backends.news.find(QUERY, [Found(PMID, 1, WHEN)])
    backends.news.set_whole(QUERY)
