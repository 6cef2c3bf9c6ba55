"""Ingest a source into a project: a job that goes through its documents one by one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import isinf
from time import monotonic
from typing import Any

from bio_mcp.errors import DeadlineExceeded, InvalidInput, UpstreamFailed
from bio_mcp.ingesting.documents import Entry, Feed, Incoming
from bio_mcp.ingesting.writing import WrittenDocument
from bio_mcp.jobs.runner import Cursor, JobReport, JobRun, RunContext
from bio_mcp.ports.state import Job

MAX_WARNINGS = 100
TRIES = 2  # of a document for which the whole time of a queued call was not enough


@dataclass(slots=True)
class IngestCursor(Cursor):
    """How far an ingest is. Counts are of documents, but for `chunks`, `pages` and `seconds`.

    Documents up to the key `last` are done. `checksum` is of their keys: where it differs from that of the entries up
    to `last`, others have come in between. `tries` counts how often the time of a queued call ended within the next
    document. `logs` are keys of blobs that say what became of each document; `planned` has that of what is about to be
    written of the next, by its hash.
    """

    last: str = ""
    checksum: int = 0
    expected: int = 0
    written: int = 0
    unchanged: int = 0
    failed: int = 0
    chunks: int = 0
    pages: int = 0
    seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)
    unlisted: int = 0
    tries: int = 0
    logs: list[str] = field(default_factory=list)
    planned: dict[str, str] = field(default_factory=dict)

    @property
    def processed(self) -> int:
        """Documents that are in the project, read now or before."""
        return self.written + self.unchanged

    @property
    def done(self) -> int:
        return self.processed + self.failed

    def rest(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries that are still to be worked through; all of them where others have come in between."""
        self.expected = len(entries)
        before = [each for each in entries if each.key <= self.last]
        if _checksum(before) != self.checksum:
            self.last, self.checksum = "", 0
            self.written = self.unchanged = self.failed = self.tries = 0
            self.warnings, self.unlisted, self.logs = [], 0, []
            return list(entries)
        return list(entries[len(before) :])

    def passed(self, entry: Entry, written: WrittenDocument) -> None:
        """Count a document that is in the project, and move past it."""
        self.written += written.written
        self.unchanged += not written.written
        self.chunks += written.chunks
        self.pages += written.pages
        self.warn(*written.warnings)
        self.logs += [written.log] if written.log else []
        self._pass(entry)

    def failure(self, entry: Entry, reason: str) -> None:
        """Count a document that cannot be read, with a warning, and move past it."""
        self.failed += 1
        self.warn(f"{entry.name!r}: {reason}")
        self._pass(entry)

    def warn(self, *sentences: str) -> None:
        """Add warnings, each once and `MAX_WARNINGS` at most; the others are counted."""
        for sentence in sentences:
            if sentence in self.warnings:
                continue
            if len(self.warnings) < MAX_WARNINGS:
                self.warnings.append(sentence)
            else:
                self.unlisted += 1

    def _pass(self, entry: Entry) -> None:
        self.last, self.tries, self.planned = entry.key, 0, {}
        self.checksum += _checksum([entry])


def _checksum(entries: Sequence[Entry]) -> int:
    hashes = (sha256(each.key.encode(errors="surrogateescape")).digest() for each in entries)
    return sum(int.from_bytes(each[:4]) for each in hashes)


TOOL = "ingest_from_source"
BATCH_TOOL = "ingest.run"  # which also reads what documents state
KIND = "ingest"
BATCH_KIND = "ingest_run"
TOO_LONG = "it takes longer to read than a queued call may; ingest it on the command line"

IngestReport = JobReport[IngestCursor]


Write = Callable[[Incoming], WrittenDocument]
"""Brings a document in; the same once more changes nothing."""


class IngestRun(JobRun[IngestCursor, IngestReport]):
    """One call's share of an ingest into a project.

    `located` finds where the documents are, and the feed of them, for a call that is `local`, from the user of this
    machine. A queued call goes on for whoever made the first, so what that may read, it may. `writer` makes what brings
    them in, once the job is known and the lease is held. `arguments` are what a continuation repeats. Raises what
    `located` and `writer` do.
    """

    tool, cursor_type = TOOL, IngestCursor
    what = "ingest of this source"
    starting = "this is just being ingested"
    again = "look for changes"

    def __init__(
        self,
        context: RunContext,
        kind: str,
        project_id: str,
        arguments: Mapping[str, Any],
        located: Callable[[bool], tuple[str, Feed]],
        writer: Callable[[Job, IngestCursor], Write],
        *,
        local: bool,
    ) -> None:
        super().__init__(context, {"local": local, "arguments": dict(arguments)})
        self.kind, self.project_id, self.located, self.writer = kind, project_id, located, writer
        self.steps, self._since = 0, monotonic()

    def prepare(self, named: Job | None) -> None:
        """One key stands for each source of a project, which does not show where on a machine that is."""
        if named and self.unattended:
            self.request["local"] = bool(named.request.get("local"))
        location, self.feed = self.located(self.request["local"])
        place = sha256(location.encode(errors="surrogateescape")).hexdigest()[:16]
        self.request["query_key"] = f"{self.project_id} {place}"
        if named and named.request["query_key"] != self.request["query_key"]:
            raise InvalidInput(f"{named.job_id!r} is the job of another project or source", field="job_id")

    def take_up(self, last: Job | None) -> tuple[Job, IngestCursor]:
        """The unfinished job of this very request. Any other is ended, as is one that is asked for without a time
        limit: who has all the time looks at every document again, since those behind the cursor may have changed."""
        if last and last.unfinished and (last.request != self.request or isinf(self.deadline.remaining)):
            last.state, last.updated = "failed", self.backends.now()
            self.backends.jobs.put(last)
        return super().take_up(last)

    def plan(self, last: Job | None) -> IngestCursor:
        """What a run of this request had planned when it was killed, the next one finishes first."""
        same = last is not None and last.request == self.request
        return IngestCursor(planned=dict(last.cursor.get("planned", {})) if last and same else {})

    def work(self) -> IngestReport:
        self.write = self.writer(self.job, self.cursor)
        self.entries = self.cursor.rest(self.feed.entries())[::-1]
        return super().work()

    def has_work(self) -> bool:
        return bool(self.entries)

    def step(self) -> bool:
        """Bring in one document. One that cannot be read is a warning, and so is one that takes too long twice."""
        entry, cursor = self.entries.pop(), self.cursor
        self.renew()
        self.progress(cursor.done, cursor.expected, entry.name)
        self.steps += 1
        try:
            cursor.passed(entry, self.write(entry.load()))
        except (InvalidInput, UpstreamFailed) as problem:
            if problem.retryable:
                raise
            cursor.failure(entry, str(problem))
        except DeadlineExceeded:
            if self.steps > 1 or not self.unattended:  # it had not the whole time of a call
                raise
            cursor.tries += 1
            if cursor.tries < TRIES:
                raise
            cursor.failure(entry, TOO_LONG)
        return True

    def finish(self) -> bool:
        self.cursor.warn(*self.feed.finish())
        self.progress(self.cursor.done, self.cursor.expected, "")
        return True

    def report(self, job: Job, cursor: IngestCursor, state: str, *notes: str, ended: str | None = None) -> IngestReport:
        unlisted = [f"and {cursor.unlisted:,} more warnings"] if cursor.unlisted else []
        return super().report(job, cursor, state, *unlisted, *notes, ended=ended)

    @classmethod
    def continuation(cls, job: Job) -> dict[str, Any]:
        return {**super().continuation(job), "tool": BATCH_TOOL if job.kind == BATCH_KIND else TOOL}

    def save(self, state: str, problem: str | None = None) -> None:
        now = monotonic()
        self.cursor.seconds, self._since = self.cursor.seconds + now - self._since, now
        super().save(state, problem)
