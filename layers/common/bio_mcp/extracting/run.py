"""Read a batch of documents into a project and the graph: a job, with a log of all that it found and wrote.

Without `dry_run: false` nothing is written but the job and its log, which lists every write that would follow."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from typing import Any, cast

from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.extracting.gazetteer import Gazetteer
from bio_mcp.extracting.reading import Plan, Reading, as_lines, read_lines
from bio_mcp.ingesting.documents import Entry, Feed, FileFeed
from bio_mcp.ingesting.files import LOGS, folder_of
from bio_mcp.ingesting.projects import index_of, model_for, rebound
from bio_mcp.ingesting.run import BATCH_KIND, IngestCursor, IngestReport, IngestRun, Write
from bio_mcp.ingesting.sources import other_model
from bio_mcp.jobs.runner import RunContext
from bio_mcp.literature.languages import three_letters
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project
from bio_mcp.ports.state import Job
from bio_mcp.retrieval.project_chunks import collection_name


@lru_cache(maxsize=1)
def _gazetteer(graph: Any, revision: str) -> Gazetteer:  # noqa: ARG001  another one is made when the graph changes
    """The names of a graph as it stands, made once: a hundred thousand take seconds."""
    return Gazetteer(graph.names())


LANGUAGES: Mapping[str, Sequence[str]] = {"th": ("th", "en"), "en": ("en",), "auto": ("en", "th")}


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider as a call names it, with what it says to it."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)


def languages_of(asked: Provider, lang: str) -> Sequence[str]:
    """The languages of scans, the likeliest first. Raises `InvalidInput` for what are no codes of languages."""
    named = tuple(asked.params.get("languages", LANGUAGES[lang]))
    if not named or not all(map(three_letters, named)):
        raise InvalidInput(
            "should be a list of codes, such as tha and eng, the likeliest first", field="ocr.params.languages"
        )
    return named


KIND = BATCH_KIND
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


@dataclass(frozen=True, slots=True)
class BatchFeed(Feed):
    feeds: Sequence[FileFeed]

    def entries(self) -> list[Entry]:
        """One entry a file. Raises `InvalidInput` for more than `MOST`."""
        placed = ((place, each) for place, feed in enumerate(self.feeds) for each in feed.entries())
        found = [replace(each, key=f"{place:04} {each.key}") for place, each in placed]
        if len(found) > MOST:
            raise InvalidInput(f"these are {len(found):,} documents; {MOST} are the most of a call", field="batch")
        return found


def run(batch: Batch, context: RunContext, *, local: bool, job_id: str | None = None) -> Ran:
    """Run or resume the batch; `local`: for the user of this machine.

    Raises `InvalidInput` for an unknown provider, `NotFound` for an unknown project, `ModelMismatch` for one of another
    model, and what `Sources` raises for what may not be read.
    """
    backends = context.backends
    plan = _plan(batch, backends)

    def located(local: bool) -> tuple[str, Feed]:
        places = [(backends.sources.locate(uri, local=local), lang) for uri, lang in batch.items]
        providers = [[each.name, dict(each.params)] for each in (batch.ocr, batch.ner)]
        feeds = [FileFeed(backends.sources, at, local, None if lang == "auto" else lang) for at, lang in places]
        return json.dumps([batch.dry_run, places, providers], sort_keys=True), BatchFeed(feeds)

    def reading(job: Job, cursor: IngestCursor) -> Write:
        return Reading(plan, job, cursor, backends, context.deadline).write_document

    asked = IngestRun(context, KIND, plan.project.project_id, batch.arguments, located, reading, local=local)
    return _logged(asked.run(job_id), batch, plan, backends)


def _plan(batch: Batch, backends: Backends) -> Plan:
    for kind, asked, only in (("ocr", batch.ocr, "tesseract"), ("ner", batch.ner, "gazetteer")):
        if asked.name != only:
            raise InvalidInput(f"{kind}.provider: there is no {asked.name[:50]!r}; there is {only}")
    for _, lang in batch.items:
        languages_of(batch.ocr, lang)
    project, is_new = _project(batch.project, backends, dry_run=batch.dry_run)
    return Plan(
        project,
        is_new,
        batch.dry_run,
        partial(languages_of, batch.ocr),
        cache(lambda: _gazetteer(cast("Any", backends.graph), backends.graph.revision())),
    )


def _project(named: str | None, backends: Backends, *, dry_run: bool) -> tuple[Project, bool]:
    """The project that is named, else the default one, and whether that is still to be made."""
    try:
        project = backends.projects.get(named or DEFAULT_PROJECT)
    except NotFound:
        if named not in (None, DEFAULT_PROJECT):
            raise
        return Project(DEFAULT_PROJECT, collection_name(DEFAULT_PROJECT), backends.embeddings.fingerprint), True
    if dry_run:
        index_of(project, backends)
    else:
        project = rebound(project, backends)
    if project.embed_model != model_for(project, backends).fingerprint:
        raise other_model(project, backends)
    return project, False


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
    project_id = plan.project.project_id
    log = backends.blobs.put(folder_of(project_id, LOGS), as_lines(lines), ".jsonl")
    return Ran(report, project_id, lines, log)
