"""Read a batch of documents into a project and the graph: a job, with a log of all that it found and wrote.

Without `dry_run: false` nothing is written but the job and its log, which lists every write that would follow.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.extracting.log_lines import as_lines, read_lines
from bio_mcp.extracting.providers import Provider, languages_of, ner_of
from bio_mcp.extracting.reading import LOGS, Plan, Reading
from bio_mcp.ingesting.cursor import Cursor
from bio_mcp.ingesting.feeds import Entry
from bio_mcp.ingesting.incoming import Incoming
from bio_mcp.ingesting.projects import Options, create_project, lost_index, model_for
from bio_mcp.ingesting.reports import IngestReport, no_job
from bio_mcp.ingesting.run import BATCH_TOOL, Request, ingest, job_of
from bio_mcp.ingesting.sources import other_model
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project
from bio_mcp.ports.sources import SourceFile, Sources
from bio_mcp.ports.state import Job
from bio_mcp.progress import Progress
from bio_mcp.retrieval.project_names import collection_name

KIND = "ingest_run"
DEFAULT_PROJECT = "ingested"
MOST = 100  # documents of a batch


@dataclass(frozen=True, slots=True)
class Batch:
    """What a call asks for: (source, language) pairs; `arguments` are what a continuation repeats."""

    items: Sequence[tuple[str, str]]
    arguments: Mapping[str, Any]
    dry_run: bool = True
    project: str | None = None
    ocr: Provider = field(default=Provider("tesseract"))
    ner: Provider = field(default=Provider("gazetteer"))


@dataclass(frozen=True, slots=True)
class Ran:
    """How far a job is. `lines` is its log up to now, and `log` the key of the blob that has it."""

    report: IngestReport
    project: str
    lines: Sequence[Mapping[str, Any]]
    log: str


class BatchFeed:
    """The documents of a batch, in its order."""

    def __init__(self, sources: Sources, located: Sequence[tuple[str, str]], *, local: bool) -> None:
        self._sources, self._located, self._local = sources, located, local

    def entries(self) -> list[Entry]:
        """One entry a file. Raises `InvalidInput` for more than `MOST`."""
        found = [
            Entry(f"{place:04} {file.address}", file.name, self._loader(file, lang))
            for place, (location, lang) in enumerate(self._located)
            for file in sorted(self._sources.files(location, local=self._local), key=lambda each: each.address)
        ]
        if len(found) > MOST:
            raise InvalidInput(f"batch: these are {len(found):,} documents; {MOST} are the most of a call")
        return found

    def finish(self) -> list[str]:
        """Files are looked at each time."""
        return []

    def _loader(self, file: SourceFile, lang: str) -> Callable[[], Incoming]:
        def load() -> Incoming:
            content = self._sources.read(file.address, local=self._local)
            return Incoming(file.name, content, file.address, language=None if lang == "auto" else lang)

        return load


def run(
    batch: Batch,
    backends: Backends,
    deadline: Deadline,
    progress: Progress,
    *,
    local: bool,
    unattended: bool = False,
    job_id: str | None = None,
) -> Ran:
    """Run or resume the batch. A queued call goes on for whoever made the first, so what that may read, it may.

    Raises `InvalidInput` for an unknown provider, `NotFound` for an unknown project, `ModelMismatch` for one of another
    model, and what `Sources` raises for what may not be read.
    """
    plan = _plan(batch, backends)
    job = job_of(job_id, backends, KIND) if job_id else None
    if job_id and job is None:
        return _logged(no_job(job_id, unattended=unattended), batch, plan, backends)
    local = bool(job.request.get("local")) if job and unattended else local
    located = [(backends.sources.locate(uri, local=local), lang) for uri, lang in batch.items]
    request = Request(plan.project.project_id, _key(batch, located), local, dict(batch.arguments), BATCH_TOOL, KIND)
    if job and job.request["query_key"] != request.query_key:
        raise InvalidInput(f"job_id: {job_id!r} is the job of another batch")

    def reading(job: Job, cursor: Cursor) -> Reading:
        return Reading(plan, job, cursor, backends, deadline)

    feed = BatchFeed(backends.sources, located, local=local)
    report = ingest(request, feed, reading, backends, deadline, progress, job_id=job_id, unattended=unattended)
    return _logged(report, batch, plan, backends)


def _plan(batch: Batch, backends: Backends) -> Plan:
    for _, lang in batch.items:
        languages_of(batch.ocr, lang)
    recognition = ner_of(batch.ner)
    project, is_new = _project(batch.project, backends)
    return Plan(
        project,
        is_new,
        batch.dry_run,
        lambda lang: languages_of(batch.ocr, lang),
        recognition,
        lambda: create_project(project.project_id, Options(), backends).project,
    )


def _project(named: str | None, backends: Backends) -> tuple[Project, bool]:
    """The project that is named, else the default one, and whether that is still to be made."""
    try:
        project = backends.projects.get(named or DEFAULT_PROJECT)
    except NotFound:
        if named not in (None, DEFAULT_PROJECT):
            raise
        return Project(DEFAULT_PROJECT, collection_name(DEFAULT_PROJECT), backends.embeddings.fingerprint), True
    if project.embed_model != model_for(project, backends).fingerprint:
        raise other_model(project, backends)
    if backends.collections.model(project.collection) is None:
        raise lost_index(project)
    return project, False


def _key(batch: Batch, located: Sequence[tuple[str, str]]) -> str:
    """Equal for equal batches, wherever a path leads to the same file."""
    providers = [[each.name, dict(each.params)] for each in (batch.ocr, batch.ner)]
    return json.dumps([batch.dry_run, located, providers], sort_keys=True)


def _logged(report: IngestReport, batch: Batch, plan: Plan, backends: Backends) -> Ran:
    """The report with the log: what was asked, what came of each document, and every warning."""
    head = {
        "job": report.job_id,
        "state": report.state,
        "dry_run": batch.dry_run,
        "project": plan.project.project_id,
        "ocr": batch.ocr.name,
        "ner": batch.ner.name,
    }
    lines: list[Mapping[str, Any]] = [head]
    for key in report.cursor.logs:
        lines += read_lines(backends.blobs.get(key))
    lines += [{"warning": each} for each in report.warnings]
    return Ran(report, plan.project.project_id, lines, backends.blobs.put(LOGS, as_lines(lines), ".jsonl"))
