"""How well the sentences of a few papers fit a question.

A sentence's score is the sum of five parts, each in [0, 1]: cosine and BM25, scaled over the sentences that are
compared, how late in the abstract it stands, whether it says what was found, and its paper's score. On SciFact the
first four find the sentences that people marked as evidence better than any one alone.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

MEANING, WORDS, LATE, FINDING, PAPER = 0.5, 0.5, 0.3, 0.2, 1.0  # weights
CACHED_SENTENCES = 8192


@dataclass(frozen=True, slots=True)
class Place:
    """What a sentence's score has beside meaning and words.

    `late` is 0 for the first of its abstract and 1 for the last, `paper` its paper's score, in [0, 1].
    """

    late: float
    finding: bool
    paper: float


def combined(sims: Sequence[float], words: Sequence[float], places: Sequence[Place]) -> list[float]:
    """The weighted sum for each sentence."""
    return [
        MEANING * sim + WORDS * word + LATE * place.late + FINDING * place.finding + PAPER * place.paper
        for sim, word, place in zip(scaled(sims), scaled(words), places, strict=True)
    ]


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
