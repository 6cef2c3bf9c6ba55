"""Export papers: a job that writes a file part by part, in bounded memory, and resumes where it was stopped.

Equal parts have one key in the blob store, so what a killed run wrote is written again in its place.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import uuid4

from bio_mcp.errors import Conflict, NotFound
from bio_mcp.exporting.cursor import Cursor
from bio_mcp.exporting.formats import FORMATS, Format, Name
from bio_mcp.exporting.selecting import Selecting, Selection
from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.syncing.jobs import JobRun, Share, ended_job
from bio_mcp.syncing.reports import STATES, take_unread
from bio_mcp.untrusted import neutral

TOOL = "exportPapers"
KIND = "export"
FOLDER = "exports"
BATCH = 200  # papers of a part of the file, by which it is written and may be read; some 700 KB
MOST_PAPERS = 100_000


@dataclass(frozen=True, slots=True)
class Report:
    """How far an export is. `state` and `ended` are as of an `IngestReport`."""

    job: Job
    cursor: Cursor
    state: str
    warnings: tuple[str, ...] = ()
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """What a job does: the `arguments` of the call, and what they mean. The file has `most` papers at most."""

    selection: Selection
    format: Name
    arguments: Mapping[str, Any] = field(default_factory=dict)
    most: int = MOST_PAPERS

    def to_json(self) -> dict[str, Any]:
        """The request as its job holds it; `query_key` is one for each such request."""
        asked = json.dumps(dict(self.arguments), sort_keys=True)
        return {"query_key": sha256(asked.encode()).hexdigest()[:32], "arguments": dict(self.arguments)}


def continuation(job: Job) -> dict[str, Any]:
    """The call that continues an export, or reports its result."""
    return {"tool": TOOL, "arguments": {**job.request["arguments"], "job_id": job.job_id}}


def export(request: Export, share: Share, job_id: str | None = None) -> Report:
    """Run or resume an export until it is done or the deadline is near.

    With `job_id` that job continues, or its result is returned, and no other is started. Raises the failures of its
    ports; the job then waits for the next call.
    """
    backends, asked = share.backends, request.to_json()
    if ended := ended_job(job_id, backends, unattended=share.unattended):
        return result_of(ended)
    lease = f"{KIND}:{asked['query_key']}"
    if not backends.leases.acquire(lease, share.holder, JobRun.lease_s):
        return _already_running(backends.jobs.latest(KIND, asked["query_key"]))
    try:
        job = _job_of(asked, share, job_id)
        return job if isinstance(job, Report) else _Run(job, request, share).run()
    finally:
        backends.leases.release(lease, share.holder)


def _job_of(asked: dict[str, Any], share: Share, job_id: str | None) -> Job | Report:
    """The job to work on, or the report of one that has ended."""
    last = share.backends.jobs.latest(KIND, asked["query_key"])
    if job_id and not (last and last.unfinished and last.job_id == job_id):
        return result_of(share.backends.jobs.get(job_id))
    if not share.unattended and (unread := take_unread(last, asked, share.backends)):
        return result_of(unread, "this is the result of a job that went on by itself; ask again to export anew")
    return last if last and last.unfinished and last.request == asked else _new_job(asked, share.backends)


def result_of(job: Job, *notes: str) -> Report:
    """The result of a job that no longer runs."""
    error = job.progress.get("error")
    reasons = [f"it ended with: {error}"] if error else []
    cursor = Cursor.from_json(job.cursor)
    warnings = (*cursor.warnings, *reasons, *notes)
    return Report(job, cursor, STATES.get(job.state, "incomplete"), warnings, instant(job.updated))


def finished(job_id: str, backends: Backends) -> tuple[Job, Cursor]:
    """An export that is complete. Raises `NotFound` where there is none of this id, and `Conflict` before its end."""
    job = backends.jobs.get(job_id)
    if job.kind != KIND:
        raise NotFound("there is no export of this id")
    if job.unfinished:
        raise Conflict("this export is not complete yet; ask again later", retry_after_s=5)
    cursor = Cursor.from_json(job.cursor)
    if not cursor.file:
        raise NotFound("this export ended without a file; export again")
    return job, cursor


def format_of(job: Job) -> Format:
    """The format of an export."""
    return FORMATS[job.request["arguments"]["format"]]


def _already_running(job: Job | None) -> Report:
    if job is None or job.state != "running":
        raise Conflict("this export is just starting; ask again later", retry_after_s=5)
    still = f"{job.job_id} is still running; nothing was started"
    return Report(job, Cursor.from_json(job.cursor), "running", (still,))


def _new_job(asked: dict[str, Any], backends: Backends) -> Job:
    now = backends.now()
    job_id = f"{KIND}_{instant(now)}_{uuid4().hex[:12]}"
    return Job(job_id, KIND, "running", now, now, asked, Cursor().to_json())


class _Run(JobRun[Report]):
    """One call's share of an export."""

    what = "export"
    cursor: Cursor

    def __init__(self, job: Job, request: Export, share: Share) -> None:
        super().__init__(share)
        self.job, self.cursor, self.format = job, Cursor.from_json(job.cursor), FORMATS[request.format]
        self.selecting, self.most = Selecting(request.selection, share.backends, share.deadline), request.most

    def work(self) -> Report:
        """List the papers, write them part by part, and join the parts."""
        if not self.cursor.listed:
            self._list()
        names = self.backends.blobs.get(self.cursor.listed).decode().splitlines()
        while self.cursor.done < len(names) or not self.cursor.parts:
            self.stop_if_cancelled()
            if not self.budget.allows(self.deadline):
                return self.continue_later()
            self._write_part(names)
        self.cursor.file = self.backends.blobs.join(self.cursor.parts)
        self.save("succeeded")
        return self.report("complete")

    def report(self, state: str, *notes: str) -> Report:
        """Report how far the export is."""
        return Report(self.job, self.cursor, state, (*self.cursor.warnings, *notes))

    def counts(self) -> dict[str, int]:
        """Papers."""
        return {"processed": self.cursor.done, "expected": self.cursor.expected}

    def continuation(self) -> dict[str, Any]:
        """The same export, by the job's id."""
        return continuation(self.job)

    def save(self, state: str, problem: str | None = None) -> None:
        """Renew the lease and save the job."""
        self.renew()
        super().save(state, problem)

    def _list(self) -> None:
        cursor, names = self.cursor, self.selecting.names()
        listed = names[: self.most]
        if len(names) > self.most:
            cursor.warnings.append(f"of {len(names):,} papers the file has the first {self.most:,}")
        cursor.warnings += self.selecting.warnings
        cursor.listed = self.backends.blobs.put(FOLDER, "\n".join(listed).encode(), ".txt")
        cursor.expected = len(listed)
        self.save("running")

    def _write_part(self, names: list[str]) -> None:
        """Write the next papers as a part, with the head or the tail of the file, and save the job."""
        cursor = self.cursor
        batch = names[cursor.done : cursor.done + BATCH]
        records = self.selecting.records(batch)
        rendered = [neutral(self.format.render(records[name])) for name in batch if name in records]
        last = cursor.done + len(batch) == len(names)
        text = "".join(
            (
                "" if cursor.parts else self.format.head,
                self.format.between if cursor.written and rendered else "",
                self.format.between.join(rendered),
                self.format.tail if last else "",
            )
        )
        cursor.wrote(self.backends.blobs.put(FOLDER, text.encode(), self.format.suffix), len(text.encode()))
        cursor.miss([name for name in batch if name not in records])
        cursor.done, cursor.written = cursor.done + len(batch), cursor.written + len(rendered)
        self.save("running")
        self.progress(cursor.done, cursor.expected, f"{cursor.done:,} of {cursor.expected:,} papers")
