"""What the article stores of every mode share."""

from typing import Protocol

from bio_mcp.errors import NotFound
from bio_mcp.literature.records import Article


class Codec(Protocol):
    """Converts an article to bytes and back; the result equals the original."""

    def dumps(self, article: Article, /) -> bytes:
        """The article as bytes."""
        ...

    def loads(self, blob: bytes, /) -> Article:
        """The article that `dumps` encoded. Raises `StoreFailed` for other bytes."""
        ...


def unknown_paper(pmid: str) -> NotFound:
    """The failure for a PMID that is not in the corpus; it says how to add it."""
    return NotFound(f"PMID {pmid} is not in the corpus; sync or import it first")
