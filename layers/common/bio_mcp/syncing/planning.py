"""Plan a sync: the job that it resumes, or the windows of a new one."""

from datetime import date
from typing import Any
from uuid import uuid4

from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.cursor import Cursor
from bio_mcp.syncing.watermarks import draw_back, name_term, watermarks
from bio_mcp.syncing.windows import windows

KIND = "sync"


def resume_or_start(request: dict[str, Any], backends: Backends) -> tuple[Job, Cursor]:
    """The unfinished job of this very request with its cursor, or a new one. Other terms' jobs are untouched.

    An unfinished job of the same term with other options is abandoned; PMIDs that it missed are fetched first.
    """
    key, term = request["query_key"], request["term"]
    name_term(key, backends.jobs.latest(KIND, key), backends)
    last = backends.jobs.latest(KIND, key, term)
    if last and last.unfinished and last.request == request:
        return last, Cursor.from_json(last.cursor)
    abandon(last, backends)
    cursor = _start(request, backends)
    if last:
        cursor.ask_again(Cursor.from_json(last.cursor).missing)
    now = backends.now()
    job = Job(f"{KIND}_{instant(now)}_{uuid4().hex[:6]}", KIND, "running", now, now, request, cursor.to_json())
    return job, cursor


def _start(request: dict[str, Any], backends: Backends) -> Cursor:
    """Plan a new job, and note its term as the one that is synced."""
    key, term, today = request["query_key"], request["term"], backends.today()
    before = backends.checkpoints.get(key).term
    backends.checkpoints.advance(key, term)
    drawn_back = draw_back(request, backends, today)
    cursor = plan(request, backends, today)
    if before not in (term, None):
        cursor.warn(f"{key!r} was synced with another term before; the papers of that term stay in the corpus")
    if drawn_back:
        cursor.warn(drawn_back)
    return cursor


def plan(request: dict[str, Any], backends: Backends, today: date) -> Cursor:
    """Cut windows from the term's watermarks to `today`; a `known_only` sync reads from the first day."""
    if request.get("known_only"):  # the corpus may know more papers than it did when the watermark moved
        return Cursor(end=today, queue=windows({}, 0, today))
    checkpoint = backends.checkpoints.get(request["query_key"], request["term"])
    return Cursor(end=today, queue=windows(watermarks(checkpoint), request["overlap_days"], today))


def abandon_all(query_key: str, backends: Backends) -> None:
    """End the unfinished jobs of every term of the key."""
    for term in (None, *(each.term for each in backends.checkpoints.all(query_key))):
        abandon(backends.jobs.latest(KIND, query_key, term), backends)


def abandon(job: Job | None, backends: Backends) -> None:
    """End an unfinished job, since its windows are no longer valid; None and finished jobs are left."""
    if job and job.unfinished:
        job.state, job.updated = "failed", backends.now()
        backends.jobs.put(job)
