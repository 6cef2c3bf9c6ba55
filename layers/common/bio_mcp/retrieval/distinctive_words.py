"""Which of the papers found have the words of a question that tell them apart.

In a corpus on COVID-19 every paper has that word; one on vitamin D and COVID-19 has both. A word weighs the more, the
fewer of the papers found have it: ln((n + 1) / (df + 0.5)), n papers of which df have it, and never below 0.
"""

from collections.abc import Collection, Mapping
from math import log


def distinctive_shares(words: Collection[str], papers: Mapping[str, Collection[str]]) -> dict[str, float]:
    """The share of the weight of `words` that each paper has, in [0, 1], by the keys of `papers`: its analysed words.

    Without words every share is 0.
    """
    weights = {word: _weight(sum(word in own for own in papers.values()), len(papers)) for word in words}
    total = sum(weights.values()) or 1.0
    return {key: sum(weights[word] for word in weights if word in own) / total for key, own in papers.items()}


def _weight(having: int, papers: int) -> float:
    return max(0.0, log((papers + 1) / (having + 0.5)))
