"""Documents as a sync stores them at first."""

from bio_mcp.literature.records import Article, Document, Tombstone
from bio_mcp.syncing.applying import revise


def documents_of(*articles: Article) -> list[Document]:
    return [document for each in articles if (document := revise(each, None)[1])]


def gone(*pmids: str, version: int = 99) -> dict[str, Tombstone]:
    """Tombstones of all that is stored of these papers, whatever its version."""
    return dict.fromkeys(pmids, Tombstone(version))
