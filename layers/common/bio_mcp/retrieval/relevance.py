"""Weak matches: passages that have nothing to do with the question. A score cannot show it: the best always has 1.

A passage is weak where `cosine + COVERAGE_WEIGHT * coverage < FITS_FROM`; coverage is the share of the question's
words that the passage and its title contain, and with full coverage it is never weak. Both terms are the same in
every engine. Words find names that the model does not know; meaning finds paraphrases.

Chosen on development questions of SciFact, NFCorpus and PubMedQA against `benchmarks/off_topic.txt`
(`python -m benchmarks off_topic`, docs/benchmarks.md). It is a warning, no filter: hits and order stay the same. So
is that nothing in the corpus answers, for which the probability of `likelihood.answerable` counts too.
"""

from collections.abc import Callable

COVERAGE_WEIGHT = 0.3
FITS_FROM = 0.55
UNLIKELY, DOUBTFUL = 0.15, 0.4  # probabilities that a corpus answers a question


def is_weak(sim: float | None, coverage: Callable[[], float]) -> bool:
    """Whether neither meaning nor words connect a passage with the question.

    `coverage` is called only where the cosine leaves it open. Without a cosine, which is then below that of every paper
    that the vectors returned, full coverage is needed.
    """
    if sim is not None and sim >= FITS_FROM:
        return False
    covered = coverage()
    return covered < 1 and (sim is None or sim + COVERAGE_WEIGHT * covered < FITS_FROM)


def is_unanswered(answerable: float, all_weak: bool) -> bool:
    """Whether probably no paper of the corpus answers: `answerable` says so alone, or where every hit is weak."""
    return answerable < (DOUBTFUL if all_weak else UNLIKELY)
