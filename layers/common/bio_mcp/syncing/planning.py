"""Plan a sync: the job that it resumes, or the windows of a new one."""

from datetime import date
from typing import Any
from uuid import uuid4

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.cursor import Cursor
from bio_mcp.syncing.watermarks import draw_back, name_term, watermarks
from bio_mcp.syncing.windows import windows

KIND = "sync"


def resume_or_start(request: dict[str, Any], backends: Backends, deadline: Deadline, most: int) -> tuple[Job, Cursor]:
    """The unfinished job of this very request with its cursor, or a new one. Other terms' jobs are untouched.

    An unfinished job of the same term with other options is abandoned; PMIDs that it missed are fetched first. Raises
    `InvalidInput` for a new one of more than `most` records; 0: any number.
    """
    key, term = request["query_key"], request["term"]
    name_term(key, backends.jobs.latest(KIND, key), backends)
    last = backends.jobs.latest(KIND, key, term)
    if last and last.unfinished and last.request == request:
        return last, Cursor.from_json(last.cursor)
    if most:
        check_size(request, most, backends, deadline)
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


def check_size(request: dict[str, Any], most: int, backends: Backends, deadline: Deadline) -> None:
    """Raise `InvalidInput`, which has the count, if PubMed has more than `most` records for a new sync.

    It costs one request, and three more where the term matches more than `most`.
    """
    term = request["term"]

    def count(of: str) -> int:
        return backends.entrez.esearch(of, deadline=deadline, retmax=1).count

    if (whole := count(term)) <= most:
        return
    new = sum(count(each.term(term)) for each in plan(request, backends, backends.today()).queue)
    if (found := min(whole, new)) > most:
        raise InvalidInput(
            f"PubMed has {found:,} records for this sync, and more than {most:,} take a confirmation: pass "
            f"max_records={found} to read them all, or narrow the term",
            count=found,
            max_records=most,
        )


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
