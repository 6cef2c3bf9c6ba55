"""How likely it is that a paper is relevant to a question, and that any of several is.

A score orders one answer: its best always has 1, whatever it is. These probabilities compare between questions. They
follow from the candidates alone, cost no search and change no order. A feature means the same in every engine, and
nearly the same in a small corpus as in a large one: a cosine is compared with the mean of the 11th to 50th, and BM25 is
taken per word of the question. `calibration` has the coefficients.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from heapq import nlargest
from statistics import fmean

from bio_mcp.retrieval.calibration import calibrated
from bio_mcp.retrieval.ranking import Ranked

FIRST = 10  # hits among which `answerable` looks for a relevant one
TAIL = slice(10, 50)  # by cosine: candidates that seldom fit
TYPICAL_TAIL = 0.4  # their mean cosine, where a question has no more than ten candidates
OF_PAPER = ("best_cosine", "cosine_above_tail", "bm25_per_word", "fused")
OF_PAPERS = {
    "answerable": ("cosine", "cosine_above_tail", "bm25_per_word", "lead"),
    "confidence": ("cosine", "bm25_per_word", "lead"),
}


@dataclass(frozen=True, slots=True)
class Background:
    """What one candidate is compared with: the other candidates of its question.

    `floor` is the lowest cosine that the vectors returned, and stands for one that they did not. `tail` is the mean
    cosine of the 11th to the 50th, `others` the mean fused score of the second to the tenth.
    """

    words: int
    best: float
    floor: float
    tail: float
    others: float

    def cosine(self, ranked: Ranked) -> float:
        """The candidate's cosine, or `floor`."""
        return self.floor if ranked.candidate.sim is None else ranked.candidate.sim

    def bm25_per_word(self, ranked: Ranked) -> float:
        """The candidate's BM25 for each word of the question; 0 where it has none of them."""
        return (ranked.candidate.bm25 or 0.0) / self.words


def background(ranked: Sequence[Ranked], words: int) -> Background:
    """The background of a question of `words` distinct words; `ranked` are all of its candidates, in any order."""
    cosines = sorted((each.candidate.sim for each in ranked if each.candidate.sim is not None), reverse=True)
    fused = sorted((each.fused.score for each in ranked), reverse=True)
    return Background(
        words=max(1, words),
        best=cosines[0] if cosines else 0.0,
        floor=cosines[-1] if cosines else 0.0,
        tail=fmean(cosines[TAIL]) if cosines[TAIL] else TYPICAL_TAIL,
        others=fmean(fused[1:FIRST]) if fused[1:FIRST] else 0.0,
    )


def features_of_paper(paper: Ranked, behind: Background) -> tuple[float, ...]:
    """`OF_PAPER` of one candidate."""
    above = behind.cosine(paper) - behind.tail
    return (behind.best, above, behind.bm25_per_word(paper), paper.fused.score)


def features_of_papers(name: str, papers: Collection[Ranked], behind: Background) -> tuple[float, ...]:
    """`OF_PAPERS` of `name` for some candidates, at least one: each feature is that of the best of them."""
    cosine = max(map(behind.cosine, papers))
    values = {
        "cosine": cosine,
        "cosine_above_tail": cosine - behind.tail,
        "bm25_per_word": max(map(behind.bm25_per_word, papers)),
        "lead": max(each.fused.score for each in papers) - behind.others,
    }
    return tuple(values[each] for each in OF_PAPERS[name])


def relevance(ranked: Sequence[Ranked], behind: Background) -> dict[str, float]:
    """The probability of each candidate to be relevant, by PMID."""
    model = calibrated("relevance", OF_PAPER)
    return {each.candidate.pmid: model.probability(features_of_paper(each, behind)) for each in ranked}


def any_relevant(name: str, papers: Collection[Ranked], behind: Background) -> float:
    """The probability that one of `papers` at least is relevant, by the coefficients of `name`; 0 without papers."""
    if not papers:
        return 0.0
    return calibrated(name, OF_PAPERS[name]).probability(features_of_papers(name, papers, behind))


def answerable(ranked: Sequence[Ranked], behind: Background) -> float:
    """The probability that a relevant paper is among the first `FIRST` by both legs; 0 without candidates."""
    first = nlargest(FIRST, ranked, key=lambda each: (each.fused.score, int(each.candidate.pmid)))
    return any_relevant("answerable", first, behind)
