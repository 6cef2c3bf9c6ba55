"""Search everything at once: papers of the corpus and passages of projects.

Every kind is scored alike, by reciprocal ranks in its words and in its meaning, divided by the most that they can be:
a score compares between kinds and between calls.
"""

from collections.abc import Callable

from bio_mcp.answering.hybrid_hits import CHUNK, PAPER, Found, HybridQuestion
from bio_mcp.answering.hybrid_papers import papers
from bio_mcp.answering.hybrid_passages import passages
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import InvalidInput
from bio_mcp.ports import Backends

KINDS: dict[str, Callable[[HybridQuestion, Backends, Deadline], Found]] = {PAPER: papers, CHUNK: passages}


def hybrid_search(question: HybridQuestion, backends: Backends, deadline: Deadline = NEVER) -> Found:
    """Find the `top_k` best hits of all kinds together; ties by kind, then by id.

    Raises `InvalidInput`, `NotFound` for an unknown project, and the failures of `find` and `search_projects`: a kind
    that cannot be searched never makes a shorter list.
    """
    if question.year_from and question.year_to and question.year_from > question.year_to:
        raise InvalidInput(f"filters.year_from: {question.year_from} is after year_to, {question.year_to}")
    found = [search(question, backends, deadline) for kind, search in KINDS.items() if question.wants(kind)]
    hits = sorted((hit for each in found for hit in each.hits), key=lambda hit: (-hit.score, hit.kind, hit.id))
    warnings = dict.fromkeys(warning for each in found for warning in each.warnings)
    return Found(hits[: question.top_k], tuple(warnings), tuple(reason for each in found for reason in each.reasons))
