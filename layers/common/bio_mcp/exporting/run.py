"""Export papers: a job that writes a file part by part, in bounded memory, and resumes where it was stopped.

Equal parts have one key in the blob store, so what a killed run wrote is written again in its place."""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from bio_mcp.errors import Conflict, NotFound
from bio_mcp.exporting.formats import FORMATS, Name
from bio_mcp.exporting.selecting import Selection
from bio_mcp.jobs.runner import Cursor, JobReport, JobRun, RunContext, find_job
from bio_mcp.ports import Backends
from bio_mcp.ports.state import Job
from bio_mcp.untrusted import neutral

MOST_MISSING = 100  # papers that could not be had, of which an export says which


@dataclass(slots=True)
class ExportCursor(Cursor):
    """How far an export is.

    `listed` is the key of the blob that lists the papers, a line each; `expected` of them, of which `done` are through.
    `parts` are the keys of the blobs that are written, `length` their bytes, `written` their papers. `absent` counts
    papers that are nowhere; `missing` names the first of them. `left_out` and `reviewed` are those of the `Selection`.
    `file` is the key of the whole, once it is.
    """

    listed: str = ""
    expected: int = 0
    done: int = 0
    written: int = 0
    length: int = 0
    parts: list[str] = field(default_factory=list)
    absent: int = 0
    missing: list[str] = field(default_factory=list)
    left_out: int = 0
    reviewed: int = 0
    file: str = ""
    warnings: list[str] = field(default_factory=list)


TOOL = "exportPapers"
KIND = "export"
FOLDER = "exports"
BATCH = 200  # papers of a part of the file, by which it is written and may be read; some 700 KB
MOST_PAPERS = 100_000

ExportReport = JobReport[ExportCursor]


def finished(job_id: str, backends: Backends) -> tuple[Job, ExportCursor]:
    """An export that is complete. Raises `NotFound` where there is none of this id, and `Conflict` before its end."""
    job = find_job(job_id, KIND, backends)
    if job.unfinished:
        raise Conflict("this export is not complete yet; ask again later", retry_after_s=5)
    cursor = ExportCursor.from_json(job.cursor)
    if not cursor.file:
        raise NotFound("this export ended without a file; export again")
    return job, cursor


class ExportRun(JobRun[ExportCursor, ExportReport]):
    kind, tool, cursor_type = KIND, TOOL, ExportCursor
    what = "export"
    starting = "this export is just starting"
    again = "export anew"

    def __init__(
        self, context: RunContext, selection: Selection, name: Name, arguments: dict[str, Any], most: int = MOST_PAPERS
    ) -> None:
        """`arguments` of the call, and what they mean. The file has `most` papers at most."""
        asked = sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()[:32]
        super().__init__(context, {"query_key": asked, "arguments": arguments})
        self.selection, self.format, self.most = selection, FORMATS[name], most

    def work(self) -> ExportReport:
        """List the papers, write them part by part, and join the parts."""
        cursor = self.cursor
        if not cursor.listed:
            names = self.selection.names()
            listed = names[: self.most]
            if len(names) > self.most:
                cursor.warnings.append(f"of {len(names):,} papers the file has the first {self.most:,}")
            cursor.warnings += self.selection.warnings
            cursor.left_out, cursor.reviewed = self.selection.left_out, self.selection.reviewed
            cursor.listed = self.backends.blobs.put(FOLDER, "\n".join(listed).encode(), ".txt")
            cursor.expected = len(listed)
            self.save("running")
        self.names = self.backends.blobs.get(cursor.listed).decode().splitlines()
        return super().work()

    def has_work(self) -> bool:
        return self.cursor.done < len(self.names) or not self.cursor.parts

    def step(self) -> bool:
        """Write the next papers as a part, with the head or the tail of the file."""
        cursor, names = self.cursor, self.names
        batch = names[cursor.done : cursor.done + BATCH]
        records = self.selection.records(batch)
        cursor.warnings += [each for each in self.selection.warnings if each not in cursor.warnings]
        found = enumerate((records[name] for name in batch if name in records), cursor.written + 1)
        rendered = [neutral(self.format.written(record, place), places=False) for place, record in found]
        last = cursor.done + len(batch) == len(names)
        text = "".join(
            (
                "" if cursor.parts else self.format.head,
                self.format.between if cursor.written and rendered else "",
                self.format.between.join(rendered),
                self.format.tail if last else "",
            )
        ).encode()
        cursor.parts.append(self.backends.blobs.put(FOLDER, text, self.format.suffix))
        cursor.length += len(text)
        absent = [name for name in batch if name not in records]
        cursor.absent += len(absent)
        cursor.missing += absent[: MOST_MISSING - len(cursor.missing)]
        cursor.done, cursor.written = cursor.done + len(batch), cursor.written + len(rendered)
        self.progress(cursor.done, cursor.expected, f"{cursor.done:,} of {cursor.expected:,} papers")
        return True

    def finish(self) -> bool:
        self.cursor.file = self.backends.blobs.join(self.cursor.parts)
        return True
