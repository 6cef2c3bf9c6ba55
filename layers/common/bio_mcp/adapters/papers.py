"""What the stores of papers have in common."""

from typing import Protocol

from bio_mcp.errors import NotFound
from bio_mcp.literature.records import Article


class Codec(Protocol):
    """How an article becomes bytes and comes back equal."""

    def dumps(self, article: Article, /) -> bytes: ...
    def loads(self, blob: bytes, /) -> Article: ...


def unknown_paper(pmid: str) -> NotFound:
    """The failure that says how to come by it."""
    return NotFound(f"PMID {pmid} is not in the corpus; sync or import it first")
