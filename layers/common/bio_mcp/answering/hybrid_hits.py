"""What a search of everything is asked and finds, of whatever kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.asked import Asked

PAPER, CHUNK = "paper", "chunk"


@dataclass(frozen=True, slots=True)
class HybridQuestion:
    """A question to everything. Without `kinds` every kind is searched, without `project_ids` the first ten projects.

    A kind is `PAPER`, `CHUNK` or a type of nodes. Years are of papers, and of the works that passages are of.
    """

    asked: Asked
    top_k: int
    kinds: frozenset[str] = frozenset()
    project_ids: tuple[str, ...] = ()
    year_from: int | None = None
    year_to: int | None = None

    def wants(self, *kinds: str) -> bool:
        """Whether hits of any of these kinds are asked for."""
        return not self.kinds or bool(self.kinds & set(kinds))


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that was found. `source` says where it is from; a chunk has its project, and pages where it has any."""

    id: str
    kind: str
    title: str
    snippet: str
    score: float
    source: str
    pmid: str | None = None
    project: str | None = None
    pages: tuple[int, int] | None = None
    retraction: RetractionStatus | None = None


class Found(NamedTuple):
    """Hits, best first; sentences for the user; and reasons why hits are missing."""

    hits: Sequence[Hit] = ()
    warnings: Sequence[str] = ()
    reasons: Sequence[str] = ()
