"""The files of a project among the blobs: each is in a folder of the project's own, and goes with it.

A file that projects share would have to be looked for in all of them before it is deleted, while others ingest it."""

from collections.abc import Iterable
from hashlib import sha256

from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.stores import Blobs

FILES, UPLOADS, LOGS = "files", "uploads", "ingest-logs"
"""Folders of blobs: PDFs of documents, what was sent and waits to be read, and what `ingest.run` found."""
STORED_PDF = "kept"  # what a document's origin calls the key of its PDF


def folder_of(project_id: str, kind: str) -> str:
    """The folder of the project's files of this kind, which no other project has."""
    return f"{kind}/{sha256(project_id.encode()).hexdigest()[:32]}"


def pdf_key(project_id: str, digest: str) -> str:
    """The key of the PDF with this SHA-256 (hex)."""
    return f"{folder_of(project_id, FILES)}/{digest}.pdf"


def stored_pdf_key(document: ProjectDocument) -> str | None:
    """The key of the PDF that a document was read from; None where none is kept."""
    key = document.origin.get(STORED_PDF)
    return key if isinstance(key, str) else None


def delete_pdfs(
    project_id: str, documents: Iterable[ProjectDocument], blobs: Blobs, kept: ProjectDocument | None = None
) -> None:
    """Delete the PDFs of the documents, but not that of `kept`. A document that is about to be read from another file
    has two."""
    of = {key for each in documents for key in (stored_pdf_key(each), pdf_key(project_id, each.sha256)) if key}
    for key in sorted(of - {stored_pdf_key(kept) if kept else None}):
        blobs.delete(key)


def delete_files(project_id: str, blobs: Blobs) -> None:
    """Delete all files of the project."""
    for kind in (FILES, UPLOADS, LOGS):
        blobs.drop(folder_of(project_id, kind))
