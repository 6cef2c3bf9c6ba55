"""Read one document: what it would write is planned first and stored as a log, then written as planned.

A run that is killed while it writes goes on with the plan, so that the log says all that came of the document.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from bio_mcp.answering.evidence_strength import NOT_EVIDENCE
from bio_mcp.deadline import Deadline, bounded_by
from bio_mcp.extracting.findings import Findings, Recognition, Statement, findings_of
from bio_mcp.extracting.gazetteer import Match
from bio_mcp.extracting.log_lines import as_lines, edge_line, edges_of, found_lines, read_lines
from bio_mcp.extracting.rehearsal import Line, Rehearsal
from bio_mcp.graph.merging import merge_edges
from bio_mcp.graph.nodes import Edge, Evidence, Step
from bio_mcp.graph.provenance import document_source
from bio_mcp.ingesting.cursor import Cursor
from bio_mcp.ingesting.incoming import Incoming
from bio_mcp.ingesting.settling import RESERVE_S, Settled, Settling
from bio_mcp.literature.csl_json import References
from bio_mcp.literature.parsed import ParsedDocument
from bio_mcp.ports import Backends
from bio_mcp.ports.graph import Graph
from bio_mcp.ports.projects import Parser, Project, ProjectDocument
from bio_mcp.ports.state import Job

LOGS = "ingest-logs"  # folder of blobs
EDGES = 5_000  # of a kind at a node, among which an edge is looked for


@dataclass(frozen=True, slots=True)
class Plan:
    """What a job does with each document.

    `project` is still to be made where it `is_new`. `languages` gives those of a scan by the call's `lang`.
    """

    project: Project
    is_new: bool
    dry_run: bool
    languages: Callable[[str], Sequence[str]]
    recognition: Callable[[Graph], Recognition]
    make_project: Callable[[], Project]


class Reading:
    """Brings the documents of one job into its project and, as far as they state something clearly, into the graph."""

    def __init__(self, plan: Plan, job: Job, cursor: Cursor, backends: Backends, deadline: Deadline) -> None:
        self._plan, self._job, self._cursor = plan, job, cursor
        self._backends, self._deadline = backends, deadline
        self._parser = _ReadOnce(backends.parser)
        self._rehearsal = Rehearsal(backends)
        self._noted: dict[tuple[str, str, str], Edge] = {}
        self._is_new = plan.is_new and not cursor.logs

    @cached_property
    def _recognition(self) -> Recognition:
        return _InTime(self._plan.recognition(self._backends.graph), self._deadline)

    def settle(self, incoming: Incoming) -> Settled:
        """Plan what the document writes, and write it unless the job is a dry run.

        Raises `UnreadableDocument`, `DeadlineExceeded` and the failures of the ports; the next call goes on.
        """
        key = self._cursor.planned.get(incoming.sha256)
        lines = read_lines(self._backends.blobs.get(key)) if key else list(self._planned(incoming))
        key = key or self._backends.blobs.put(LOGS, as_lines(lines), ".jsonl")
        if not self._plan.dry_run:
            self._remember(incoming, key)
            self._write(incoming, lines)
        self._is_new = False
        return _settled(lines, key)

    def _remember(self, incoming: Incoming, key: str) -> None:
        """Save the plan with the job before anything of it is written."""
        self._cursor.planned = {incoming.sha256: key}
        self._job.cursor = self._cursor.to_json()
        self._backends.jobs.put(self._job)

    def _write(self, incoming: Incoming, lines: Sequence[Line]) -> None:
        if self._is_new:
            self._plan.make_project()
        self._settling(incoming, _With(self._backends, self._parser)).settle(incoming)
        if edges := edges_of(lines):
            self._backends.graph.put([], edges)

    def _planned(self, incoming: Incoming) -> Iterator[Line]:
        """Yield what is found in the document, then each write."""
        settled = self._settling(incoming, _With(self._rehearsal, self._parser)).settle(incoming)
        writes = self._rehearsal.taken()
        project_id = self._plan.project.project_id
        [document] = self._rehearsal.project_documents.find(project_id, [settled.doc_id])
        parsed = self._parsed(incoming)
        yield _head(incoming, document, project_id, parsed, settled)
        findings = self._findings(parsed, document) if document.sha256 == incoming.sha256 else Findings((), ())
        yield from found_lines(findings)
        if self._is_new:
            yield {"write": "project", "project": project_id}
        yield from writes
        source = document_source(project_id, document.doc_id)
        yield from map(edge_line, self._new(_edges(findings.statements, source, document.work.pmid)))

    def _settling(self, incoming: Incoming, backends: "_With") -> Settling:
        languages = self._languages(incoming)
        of = cast("Backends", backends)
        return Settling(self._plan.project, of, self._deadline, references=References(), languages=languages)

    def _languages(self, incoming: Incoming) -> Sequence[str]:
        return self._plan.languages(incoming.language or "auto")

    def _parsed(self, incoming: Incoming) -> ParsedDocument:
        """The document's text, also where nothing of it has changed since it was read."""
        with bounded_by(self._deadline.share(max(self._deadline.remaining - RESERVE_S, 0.1))):
            return self._parser.parse(incoming.content or b"", incoming.name, self._languages(incoming))

    def _findings(self, parsed: ParsedDocument, document: ProjectDocument) -> Findings:
        """What the document says; a paper that was retracted states nothing."""
        findings, pmid = findings_of(parsed, self._recognition), document.work.pmid
        known = self._backends.documents.get_many([pmid]).get(pmid) if pmid and findings.statements else None
        if known is None or known.article.retraction not in NOT_EVIDENCE:
            return findings
        problem = "the paper was retracted"
        return replace(findings, statements=tuple(replace(each, problem=problem) for each in findings.statements))

    def _new(self, edges: Sequence[Edge]) -> Iterator[Edge]:
        """Yield the edges that say more than what is stored."""
        for edge in edges:
            stored = self._noted.get(edge.key) or self._stored(edge)
            merged = merge_edges(stored, edge)
            if merged != stored:
                self._noted[edge.key] = merged
                yield edge

    def _stored(self, edge: Edge) -> Edge | None:
        at = self._backends.graph.neighbours([edge.from_id], [Step(edge.type)], EDGES).get(edge.from_id)
        return next((each for each in at.edges if each.key == edge.key), None) if at else None


def _edges(statements: Sequence[Statement], source: str, pmid: str | None) -> list[Edge]:
    """The edges that the statements of a document make, each with every sentence that states it."""
    edges: dict[tuple[str, str, str], Edge] = {}
    for each in statements:
        if each.problem is None:
            edge = Edge(each.edge, each.from_id, each.to_id, (source,), (Evidence(pmid, each.quote),))
            edges[edge.key] = merge_edges(edges.get(edge.key), edge)
    return [edges[key] for key in sorted(edges)]


def _head(
    incoming: Incoming, document: ProjectDocument, project_id: str, parsed: ParsedDocument, settled: Settled
) -> Line:
    return {
        "document": incoming.name,
        "project": project_id,
        "doc_id": document.doc_id,
        "pmid": document.work.pmid,
        "title": document.work.title,
        "sha256": incoming.sha256,
        "language": parsed.language,
        "pages": parsed.pages,
        "ocr": parsed.ocr,
        "confidence": parsed.confidence,
        "warnings": list(settled.warnings),
    }


def _settled(lines: Sequence[Mapping[str, Any]], key: str) -> Settled:
    head = lines[0]
    chunks = sum(each.get("write") == "passage" for each in lines)
    written = any("write" in each or "delete" in each for each in lines)
    return Settled(head["doc_id"], written, chunks, head["pages"] or 0, tuple(head["warnings"]), key)


class _InTime:
    """Finds names for as long as there is time."""

    def __init__(self, recognition: Recognition, deadline: Deadline) -> None:
        self._recognition, self._deadline = recognition, deadline

    def find(self, text: str) -> list[Match]:
        self._deadline.check("the names in a document were found")
        return self._recognition.find(text)


class _ReadOnce:
    """A parser that remembers the file that it read last."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._last: tuple[object, ParsedDocument] | None = None

    @property
    def version(self) -> str:
        return self._parser.version

    def parse(self, content: bytes, name: str, languages: Sequence[str] = ()) -> ParsedDocument:
        asked = content, name, tuple(languages)
        if self._last is None or self._last[0] != asked:
            self._last = asked, self._parser.parse(content, name, languages)
        return self._last[1]


class _With:
    """Backends with another parser."""

    def __init__(self, backends: object, parser: Parser) -> None:
        self._backends, self.parser = backends, parser

    def __getattr__(self, port: str) -> Any:
        return getattr(self._backends, port)
