"""Note what publishers and Retraction Watch say about the documents of a project that PubMed does not have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bio_mcp.literature.notices import Notice, status_of
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import ProjectDocument

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


def note_notices(project_id: str, known: Known, backends: Backends) -> Noted:
    """Note the notices that `known` has about the project's documents without a PMID.

    Raises `NotFound` for an unknown project, and what `known` raises, with nothing written.
    """
    backends.projects.get(project_id)
    return note(project_id, without_pmid(project_id, backends), known, backends)


def without_pmid(project_id: str, backends: Backends) -> list[ProjectDocument]:
    """The documents of a project that have a DOI and no PMID, by DOI."""
    found = [each for each in backends.project_documents.all(project_id) if each.work.doi and not each.work.pmid]
    return sorted(found, key=lambda each: each.work.doi or "")


def note(project_id: str, listed: Sequence[ProjectDocument], known: Known, backends: Backends) -> Noted:
    """Note the notices that `known` has about these documents. Raises what `known` raises, with nothing written."""
    notices = known(sorted({each.work.doi for each in listed if each.work.doi})) if listed else {}
    changed = 0
    found: list[NotedDocument] = []
    for each in listed:
        noted = replace(each, notices=tuple(notices.get(each.work.doi or "", each.notices)))
        if noted != each:
            changed += _put(project_id, noted, backends)
        if noted.notices:
            found.append(NotedDocument(noted, status_of(noted.notices)))
    unknown = sum(each.work.doi not in notices for each in listed)
    return Noted(len(listed), unknown, changed, tuple(found))


def _put(project_id: str, noted: ProjectDocument, backends: Backends) -> bool:
    """Give the document as it is by now the notices; False if it was deleted since it was listed."""
    named = backends.project_documents.find(project_id, sorted(noted.identifiers))
    newest = next((each for each in named if each.doc_id == noted.doc_id), None)
    if newest:
        backends.project_documents.put(project_id, replace(newest, notices=noted.notices))
    return newest is not None
