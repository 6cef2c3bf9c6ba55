"""What the article stores of every mode share."""

from datetime import UTC, date, datetime
from typing import Protocol

from bio_mcp.errors import NotFound
from bio_mcp.literature.records import Article

OLD_VERSIONS = 5  # of a paper, that are stored beside its newest


class Codec(Protocol):
    """Converts an article to bytes and back; the result equals the original."""

    def dumps(self, article: Article, /) -> bytes:
        """The article as bytes."""
        ...

    def loads(self, blob: bytes, /) -> Article:
        """The article that `dumps` encoded. Raises `StoreFailed` for other bytes."""
        ...


def utc_day(seconds: float) -> date:
    """The day (UTC) of a time in seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).date()


def unknown_paper(pmid: str) -> NotFound:
    """The failure for a PMID that is not in the corpus; it says how to add it."""
    return NotFound(f"PMID {pmid} is not in the corpus; sync or import it first")


def unknown_version(pmid: str, version: int) -> NotFound:
    """The failure for a version of a paper that is not stored."""
    return NotFound(f"PMID {pmid} is not stored as of version {version}: it was deleted, or revised too often since")
