"""How well the sentences of a few papers fit a question.

A sentence's score is the sum of four parts, each scaled to [0, 1] over the sentences that are compared: cosine, BM25
among these sentences, how late in the abstract it stands, and its paper's score. On SciFact the first three find the
sentences that people marked as evidence better than any one alone (docs/benchmarks.md).
"""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from math import log

from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

MEANING, WORDS, LATE, PAPER = 0.5, 0.5, 0.3, 1.0  # weights
CACHED_SENTENCES = 8192


def combined(
    sims: Sequence[float], words: Sequence[float], late: Sequence[float], papers: Sequence[float]
) -> list[float]:
    """The weighted sum for each sentence. `late` and `papers` are in [0, 1] already."""
    parts = zip(scaled(sims), scaled(words), late, papers, strict=True)
    return [MEANING * sim + WORDS * word + LATE * place + PAPER * paper for sim, word, place, paper in parts]


def scaled(scores: Sequence[float]) -> list[float]:
    """The scores, the lowest as 0 and the highest as 1; all 1 where they are equal."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def bm25_among(texts: Sequence[str], terms: Collection[str]) -> list[float]:
    """BM25 of each text, with the statistics of these texts alone."""
    counted = [_terms(text) for text in texts]
    lengths = [sum(each.values()) for each in counted]
    average = sum(lengths) / max(1, len(texts)) or 1.0
    idf = {term: _idf(sum(term in each for each in counted), len(texts)) for term in sorted(terms)}
    return [
        sum(
            weight * tf * (BM25_K1 + 1) / (tf + BM25_K1 * (1 - BM25_B + BM25_B * length / average))
            for term, weight in idf.items()
            if (tf := each[term])
        )
        for each, length in zip(counted, lengths, strict=True)
    ]


def _idf(having: int, of: int) -> float:
    return log(1 + (of - having + 0.5) / (having + 0.5))


@lru_cache(CACHED_SENTENCES)
def _terms(text: str) -> Counter[str]:
    return Counter(analyse(text))
