"""How sure an answer is: the probability that a right paper is among those that it cites."""

from collections.abc import Collection

from bio_mcp.answering.retrieving import Retrieved
from bio_mcp.retrieval.likelihood import any_relevant, background


def confidence_of(retrieved: Retrieved, cited: Collection[str]) -> float:
    """The probability that at least one of the papers `cited`, by PMID, answers the question; 0 where none was found.

    It is fitted to questions asked twice, once with their judged papers taken out of the corpus, so that papers which
    are merely the nearest do not pass for right ones.
    """
    papers = [each for each in retrieved.ranked if each.candidate.pmid in cited]
    return any_relevant("confidence", papers, background(retrieved.ranked, len(retrieved.terms)))
