"""Jobs, in the corpus file."""

import json
from datetime import datetime
from typing import Any

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.errors import NotFound
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.state import Job

_SELECT = "SELECT job_id, kind, state, created, updated, request, cursor, progress FROM jobs "


class SqliteJobs:
    """The port `Jobs` over the corpus file. A time without a zone is taken as UTC."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, job_id: str) -> Job:
        with self._database.reading() as connection:
            row = connection.execute(_SELECT + "WHERE job_id = ?", (job_id,)).fetchone()
        if row is None:
            raise NotFound(f"There is no job {job_id!r}")
        return _job(row)

    def put(self, job: Job) -> None:
        row = (
            job.job_id,
            job.kind,
            job.state,
            job.request.get("query_key"),
            sortable(job.created),
            sortable(job.updated),
        )
        rest = (json.dumps(job.request), json.dumps(job.cursor), json.dumps(job.progress))
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job_id) DO UPDATE SET "
                "state = excluded.state, updated = excluded.updated, request = excluded.request, "
                "cursor = excluded.cursor, progress = excluded.progress WHERE state <> 'cancelled'",
                row + rest,
            )

    def is_cancelled(self, job_id: str) -> bool:
        with self._database.reading() as connection:
            query = "SELECT 1 FROM jobs WHERE job_id = ? AND state = 'cancelled'"
            return connection.execute(query, (job_id,)).fetchone() is not None

    def remove(self, job: Job) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM jobs WHERE job_id = ?", (job.job_id,))

    def latest(self, kind: str, query_key: str, term: str | None = None) -> Job | None:
        with self._database.reading() as connection:
            row = connection.execute(
                _SELECT + "WHERE kind = ? AND query_key = ? AND (? IS NULL OR json_extract(request, '$.term') = ?) "
                "ORDER BY created DESC, job_id DESC LIMIT 1",
                (kind, query_key, term, term),
            ).fetchone()
        return _job(row) if row else None

    def newest(self, kind: str, most: int) -> list[Job]:
        with self._database.reading() as connection:
            rows = connection.execute(
                _SELECT + "WHERE kind = ? ORDER BY created DESC, job_id DESC LIMIT ?", (kind, most)
            ).fetchall()
        return [_job(row) for row in rows]


def _job(row: tuple[Any, ...]) -> Job:
    job_id, kind, state, created, updated, *rest = row
    request, cursor, progress = map(json.loads, rest)
    return Job(
        job_id, kind, state, datetime.fromisoformat(created), datetime.fromisoformat(updated), request, cursor, progress
    )
