"""What the news of every mode share: entries from their positions."""

from datetime import datetime

from bio_mcp.literature.changes import ChangeKind
from bio_mcp.ports.news import NewsEntry


def entry_at(position: str) -> NewsEntry:
    """The entry whose `position` this is."""
    at, pmid, version, kind = position.split(" ")
    return NewsEntry(datetime.fromisoformat(at), ChangeKind(kind), str(int(pmid)), int(version))
