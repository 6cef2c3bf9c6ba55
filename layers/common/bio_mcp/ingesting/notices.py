"""What publishers and Retraction Watch say about documents that PubMed does not have, by project or for all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bio_mcp.errors import UpstreamFailed
from bio_mcp.ingesting.turns import in_turns, turn
from bio_mcp.jobs.runner import Cursor, RunContext
from bio_mcp.literature.notices import Notice, status_of
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.state import Job
from bio_mcp.scope import call_deadline
from bio_mcp.syncing.cursor import TOOL, CorpusRun, SyncReport
from bio_mcp.tenants import of_all_tenants

Known = Callable[[Sequence[str]], Mapping[str, Sequence[Notice]]]
"""The notices about each of these DOIs; one that the source does not have is absent, and is left as it was."""


@dataclass(frozen=True, slots=True)
class NotedDocument:
    """A document about which there is a notice, and the status that its notices give it."""

    document: ProjectDocument
    status: RetractionStatus


@dataclass(frozen=True, slots=True)
class Noted:
    """`checked` documents have a DOI and no PMID; `unknown` of them are not in the source. `changed` were written."""

    checked: int
    unknown: int
    changed: int
    documents: tuple[NotedDocument, ...]


def _without_pmid(project_id: str, backends: Backends) -> list[ProjectDocument]:
    """The documents of a project that have a DOI and no PMID, by DOI."""
    found = [each for each in backends.project_documents.all(project_id) if each.work.doi and not each.work.pmid]
    return sorted(found, key=_doi)


def note_notices(
    project_id: str, known: Known, backends: Backends, listed: Sequence[ProjectDocument] | None = None
) -> Noted:
    """Note the notices that `known` has about the project's documents without a PMID, or those that are `listed`.

    Raises `NotFound` for an unknown project, and what `known` raises, with nothing written.
    """
    if listed is None:
        backends.projects.get(project_id)
        listed = _without_pmid(project_id, backends)
    notices = known(sorted({each.work.doi for each in listed if each.work.doi})) if listed else {}
    changed = 0
    found: list[NotedDocument] = []
    for each in listed:
        noted = replace(each, notices=tuple(notices.get(each.work.doi or "", each.notices)))
        if noted != each:
            changed += in_turns(partial(_note, project_id, noted, backends), call_deadline())
        if noted.notices:
            found.append(NotedDocument(noted, status_of(noted.notices)))
    unknown = sum(each.work.doi not in notices for each in listed)
    return Noted(len(listed), unknown, changed, tuple(found))


def _note(project_id: str, noted: ProjectDocument, backends: Backends) -> bool:
    """Give a document its notices, as it is by now; returns whether it is still there."""
    with turn(project_id, backends):
        named = backends.project_documents.find(project_id, sorted(noted.identifiers))
        newest = next((each for each in named if each.doc_id == noted.doc_id), None)
        if newest:
            backends.project_documents.put(project_id, replace(newest, notices=noted.notices))
    return newest is not None


KIND = "notices"
QUERY_KEY = "bio-mcp/notices"  # no query of a stack's may have a stroke in its key
TERM = "documents of projects without a PMID"
BATCH = 100  # DOIs between two savings of the job: five requests at Crossref


@dataclass(slots=True)
class NoticeCursor(Cursor):
    """How far a check is. `waiting` are the projects that are still to be checked; of the first one the documents up to
    the DOI `after` are. Crossref does not have `unknown` of those that are `checked`."""

    waiting: list[str] = field(default_factory=list)
    after: str = ""
    checked: int = 0
    changed: int = 0
    unknown: int = 0
    doubts: list[str] = field(default_factory=list)


def check_all_notices(context: RunContext, job_id: str | None = None) -> SyncReport:
    """Run or resume a check of all projects, as `JobRun.run` says; counts are documents."""
    return _Check(replace(context, backends=of_all_tenants(context.backends)), {"query_key": QUERY_KEY}).run(job_id)


class _Check(CorpusRun[NoticeCursor]):
    kind, cursor_type = KIND, NoticeCursor
    what = "check for notices"

    def plan(self, _last: Job | None) -> NoticeCursor:
        return NoticeCursor([each.project_id for each in self.backends.projects.all()])

    def has_work(self) -> bool:
        return bool(self.cursor.waiting)

    def step(self) -> bool:
        """Check some documents of the first project that is waiting, those of one DOI together."""
        cursor, project_id = self.cursor, self.cursor.waiting[0]
        if self._left is None:
            self._left = [each for each in _without_pmid(project_id, self.backends) if _doi(each) > cursor.after]
        dois = list(dict.fromkeys(map(_doi, self._left)))[:BATCH]
        if not dois:
            cursor.waiting, cursor.after, self._left = cursor.waiting[1:], "", None
            return True
        part = [each for each in self._left if _doi(each) <= dois[-1]]
        self._note(project_id, part)
        cursor.after, self._left = dois[-1], self._left[len(part) :]
        self.progress(cursor.checked, None, f"{cursor.checked:,} documents")
        return True

    _left: list[ProjectDocument] | None = None
    """Those of the first project that are still to be checked, by DOI; None before they are listed."""

    def finish(self) -> bool:
        return not self.cursor.doubts

    def report(self, job: Job, cursor: NoticeCursor, state: str, *notes: str, ended: str | None = None) -> SyncReport:
        unknown = [f"documents whose DOIs Crossref does not have, nor notices about them: {cursor.unknown:,}"]
        return SyncReport(
            job.job_id,
            state,
            updated=cursor.changed,
            skipped=cursor.checked - cursor.changed,
            processed=cursor.checked,
            expected=cursor.checked,
            warnings=(*cursor.doubts, *(unknown if cursor.unknown else ()), *notes),
            ended=ended,
        )

    @classmethod
    def continuation(cls, job: Job) -> dict[str, Any]:
        return {"tool": TOOL, "arguments": {"query_key": QUERY_KEY, "term": TERM, "job_id": job.job_id}}

    def _note(self, project_id: str, documents: Sequence[ProjectDocument]) -> None:
        """Note what is found. Documents about which Crossref refuses to answer keep no others waiting."""
        asked, deadline = self.backends.notices, self.deadline
        try:
            noted = note_notices(
                project_id,
                lambda dois: {doi: work.notices for doi, work in asked.of(dois, deadline=deadline).items()},
                self.backends,
                documents,
            )
        except UpstreamFailed as failure:
            if failure.retryable:
                raise
            self.cursor.doubts.append(f"{len(documents)} documents were not checked: {failure}")
            return
        self.cursor.checked += noted.checked
        self.cursor.changed += noted.changed
        self.cursor.unknown += noted.unknown


def _doi(document: ProjectDocument) -> str:
    return document.work.doi or ""
