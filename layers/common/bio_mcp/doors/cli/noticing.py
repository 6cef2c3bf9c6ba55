"""What `bio-mcp retractions` says of documents of projects that PubMed does not have."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.session import Session
from bio_mcp.ingesting.noticing import note_notices
from bio_mcp.literature.retraction_watch import notices_by_doi
from bio_mcp.ports import Backends
from bio_mcp.tool import Request, Response, tool
from bio_mcp.tools.families import REVIEW
from bio_mcp.tools.scholarly import check_notices, noted_answer
from bio_mcp.tools.scholarly.shapes import NoticesAnswer


class RetractionWatchFile(Request):
    """The path of Retraction Watch's file."""

    file: str


class NoticesOfProjects(Response):
    """What the file says about each project."""

    projects: list[NoticesAnswer]


@tool("retractionWatch.import", family=REVIEW, scope="admin", timeout=600, read_only=False)
def import_notices(request: RetractionWatchFile, backends: Backends) -> NoticesOfProjects:
    """Note what Retraction Watch's file says about the documents of every project; what it does not name stays."""
    with Path(request.file).open(encoding="utf-8", errors="replace", newline="") as lines:
        by_doi = notices_by_doi(lines)
    ids = [each.project_id for each in backends.projects.all()]
    noted = [(each, note_notices(each, lambda dois: by_doi, backends)) for each in ids]  # noqa: ARG005  it has them all
    return NoticesOfProjects(projects=[noted_answer(*each) for each in noted])


def check_projects(session: Session, retraction_watch: str | None) -> None:
    """Ask Crossref about each project, or take what the file says of them all."""
    if retraction_watch is None:
        ids = [each.project_id for each in session.own.projects.all()]
        found = [session.ask(check_notices, {"project": each}) for each in ids]
    else:
        found = session.ask(import_notices, {"file": retraction_watch})["projects"]
    session.answer({"projects": found}, partial(render_notices, by_crossref=retraction_watch is None))


def render_notices(body: Mapping[str, Any], *, by_crossref: bool) -> None:
    """Print each document about which there is a notice, and how many Crossref does not have; Retraction Watch's file
    need not have any."""
    for project in body["projects"]:
        checked = terminal.counted(project["checked"], "document")
        unknown = f", {project['unknown']:,} not at Crossref" if by_crossref and project["unknown"] else ""
        terminal.say(f"{project['project']}: {checked} without a PMID, {len(project['works'])} with a notice{unknown}")
        for work in project["works"]:
            notice = work["notices"][-1]
            words = " ".join(filter(None, (notice["label"], notice["date"], f"({notice['assertedBy']})")))
            terminal.say(f"  {work['retraction']}  {work['citekey'] or work['title'] or work['doc_id']}: {words}")
