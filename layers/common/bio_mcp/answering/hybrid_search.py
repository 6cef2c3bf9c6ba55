"""Search everything at once: papers of the corpus, passages of projects and what the graph knows.

Every kind is scored alike, by reciprocal ranks in its words and in its meaning, divided by the most that they can be:
a score compares between kinds and between calls.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from bio_mcp.answering.hybrid_entities import TYPES, entities
from bio_mcp.answering.hybrid_hits import CHUNK, PAPER, Found, Hit, HybridQuestion
from bio_mcp.answering.hybrid_papers import papers
from bio_mcp.answering.hybrid_passages import passages
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import InvalidInput
from bio_mcp.ports import Backends
from bio_mcp.retrieval.asked import Asked
from bio_mcp.retrieval.overlaps import unrepeated

LEXICAL = (
    "Without the multilingual index (BIO_MCP_MULTILINGUAL) Thai is lexical only: looked up word by word, in English by "
    "a dictionary. What the dictionary does not know is not searched for."
)
Search = Callable[[HybridQuestion, Backends, Deadline], Found]

KINDS: dict[tuple[str, ...], Search] = {(PAPER,): papers, (CHUNK,): passages, TYPES: entities}


def hybrid_search(question: HybridQuestion, backends: Backends, deadline: Deadline = NEVER) -> Found:
    """Find the `top_k` best hits of all kinds together; ties by kind, then by id.

    Raises `InvalidInput`, `NotFound` for an unknown project, and the failures of `find` and `search_projects`: a kind
    that cannot be searched never makes a shorter list.
    """
    if question.year_from and question.year_to and question.year_from > question.year_to:
        raise InvalidInput(f"filters.year_from: {question.year_from} is after year_to, {question.year_to}")
    found = [search(question, backends, deadline) for kinds, search in KINDS.items() if question.wants(*kinds)]
    hits = sorted((hit for each in found for hit in each.hits), key=lambda hit: (-hit.score, hit.kind, hit.id))
    hits = list(_without_repeats(hits))
    warnings = dict.fromkeys(
        (*_thai(question.asked, backends), *(warning for each in found for warning in each.warnings))
    )
    return Found(hits[: question.top_k], tuple(warnings), tuple(reason for each in found for reason in each.reasons))


def _without_repeats(hits: Iterable[Hit]) -> Iterator[Hit]:
    """The hits, best first, without what a better one shows of the same paper; a passage that shows nothing else is
    left out, and a paper stays without a snippet."""
    shown: defaultdict[str, list[str]] = defaultdict(list)
    for each in hits:
        better = shown[each.pmid] if each.pmid else []
        text = unrepeated(each.snippet, better)
        if text or each.kind != CHUNK:
            better.append(each.snippet)
            yield replace(each, snippet=text)


def _thai(asked: Asked, backends: Backends) -> Iterator[str]:
    """What the user of a Thai question should know."""
    if not asked.is_thai:
        return
    if not backends.multilingual:
        yield LEXICAL
    if asked.unknown and not backends.multilingual:
        yield f"The Thai dictionary does not have {', '.join(asked.unknown)}: ask for that in English too."
    if not asked.segmented:
        yield "Without PyThaiNLP only names of the dictionary are found in Thai text."
