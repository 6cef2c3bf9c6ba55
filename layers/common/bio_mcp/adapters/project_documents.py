"""Documents of projects as JSON values, for every store."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from bio_mcp.literature.notices import Notice
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.retrieval.project_chunks import Work


def to_row(document: ProjectDocument) -> dict[str, Any]:
    """The document as JSON values, but for its identifiers, which stand elsewhere: they move between documents."""
    row = asdict(document)
    del row["identifiers"]
    return row


def from_row(row: Mapping[str, Any], identifiers: Iterable[str]) -> ProjectDocument:
    """Restore a document that `to_row` made, with the identifiers that it has."""
    work = row["work"]
    named = {"authors": tuple(work["authors"]), "tags": tuple(work["tags"])}
    notices = tuple(Notice(**each) for each in row.get("notices", ()))  # which older rows have not
    read = {"work": Work(**{**work, **named}), "identifiers": frozenset(identifiers), "notices": notices}
    return ProjectDocument(**{**row, **read})
