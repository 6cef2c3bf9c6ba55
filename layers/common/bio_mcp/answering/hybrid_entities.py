"""Herbs, constituents, indications and drugs of the graph among the hits of a search of everything."""

import re
from collections.abc import Iterator

from bio_mcp.answering.hybrid_hits import Found, Hit, HybridQuestion
from bio_mcp.deadline import Deadline
from bio_mcp.graph.nodes import Node, NodeType
from bio_mcp.ports import Backends
from bio_mcp.retrieval.excerpts import SNIPPET, cut
from bio_mcp.retrieval.reciprocal_ranks import reciprocal_ranks
from bio_mcp.retrieval.thai_words import THAI, words_of

TYPES = tuple(each.value for each in NodeType)
WORDS, LONGEST_NAME = 24, 4  # of a question that are looked up, and in a name
_WORD = re.compile(r"[^\W_]+(?:['.-][^\W_]+)*")


def entities(question: HybridQuestion, backends: Backends, deadline: Deadline) -> Found:
    """Find what the question names, whatever the years: the longest name first.

    A node is named by any of its names and synonyms, in English, Latin or Thai.
    """
    deadline.check("looking up names")
    names = list(_names(question))
    found = backends.graph.named(names)
    nodes = {node.node_id: node for name in names for node in found.get(name, ()) if question.wants(node.type)}
    scores = reciprocal_ranks([list(nodes)])
    return Found([_hit(node, round(scores[node_id], 6)) for node_id, node in nodes.items()][: question.top_k])


def _names(question: HybridQuestion) -> Iterator[str]:
    """Yield what may be a name in the question, the longest first, each once."""
    asked = question.asked
    runs = [
        (" ", _WORD.findall(asked.english)[:WORDS]),
        ("", words_of(asked.text)[:WORDS]),
    ]
    seen: set[str] = set()
    for length in range(LONGEST_NAME, 0, -1):
        for space, words in runs:
            for start in range(len(words) - length + 1):
                name = space.join(words[start : start + length])
                if name not in seen and (not THAI.match(name) or len(name) > 1):
                    seen.add(name)
                    yield name


def _hit(node: Node, score: float) -> Hit:
    names = [f"{name} ({language})" for language, name in node.names.items() if name != node.label]
    about = ". ".join(filter(None, [", ".join(names), node.description]))
    return Hit(node.node_id, node.type, node.label, cut(about or node.label, SNIPPET), score, "; ".join(node.sources))
