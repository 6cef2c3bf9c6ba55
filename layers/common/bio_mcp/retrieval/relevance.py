"""Whether a passage has to do with the question at all, which a score does not tell: the best one has 1 in any case.

A passage is a weak match where its cosine and `COVERAGE_WEIGHT` of its coverage, the share of the question's words that
it and its title hold, together stay below `FITS_FROM`; with every word it never is. Both are the same in every engine.
Words find a name that the model knows nothing of, meaning finds what is said in other words.

Chosen on development questions of SciFact, NFCorpus and PubMedQA against `benchmarks/off_topic.txt`
(`python -m benchmarks off_topic`, docs/benchmarks.md). It is a warning, no filter: it leaves nothing out and moves
nothing.
"""

from collections.abc import Callable

COVERAGE_WEIGHT = 0.3
FITS_FROM = 0.55


def is_weak(sim: float | None, coverage: Callable[[], float]) -> bool:
    """Whether neither meaning nor words tie a passage to the question.

    `coverage` is asked for only where the cosine leaves it open. Without a cosine, which is then below those of all
    papers that vectors returned, every word must be there.
    """
    if sim is not None and sim >= FITS_FROM:
        return False
    covered = coverage()
    return covered < 1 and (sim is None or sim + COVERAGE_WEIGHT * covered < FITS_FROM)
