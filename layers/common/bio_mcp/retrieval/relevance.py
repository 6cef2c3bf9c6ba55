"""How likely a hit is relevant, and that the corpus answers: logistic regressions whose coefficients ship as data."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nlargest
from importlib import resources
from math import exp, log
from operator import mul
from statistics import fmean
from typing import Any

from bio_mcp.retrieval.excerpts import overlap
from bio_mcp.retrieval.ranking import Ranked

STEEPEST = 40.0  # log-odds beyond which a probability is 0 or 1 to sixteen digits


@dataclass(frozen=True, slots=True)
class Logistic:
    """A probability as a function of numbers: the sigmoid of `intercept` plus their weighted sum."""

    intercept: float
    weights: tuple[float, ...]

    def probability(self, features: Sequence[float]) -> float:
        """The probability, in (0, 1); `features` are in the order of `weights`."""
        odds = self.intercept + sum(map(mul, self.weights, features))
        return 1 / (1 + exp(-max(-STEEPEST, min(STEEPEST, odds))))


@cache
def calibrated(name: str, features: tuple[str, ...]) -> Logistic:
    """The coefficients of `name`, its weights in the order of `features`.

    Raises `ValueError` where they were fitted to other features.
    """
    fitted = shipped()["models"][name]
    if set(fitted["weights"]) != set(features):
        raise ValueError(f"calibration.json: {name} was fitted to other features; run python -m benchmarks relevance")
    return Logistic(fitted["intercept"], tuple(fitted["weights"][each] for each in features))


def is_fitted_to(fingerprint: str) -> bool:
    """Whether the cosines that the probabilities were fitted to are those of the embedding model `fingerprint`."""
    fitted = str(shipped()["embedding"])
    return fingerprint.partition("/")[0] == fitted.partition("/")[0]


@cache
def shipped() -> Mapping[str, Any]:
    """`calibration.json`: every fit by its name, in `models`, and the model that embedded what they were fitted to."""
    text = resources.files("bio_mcp.retrieval").joinpath("calibration.json").read_text(encoding="utf-8")
    fits: Mapping[str, Any] = json.loads(text)
    return fits


FIRST = 10  # hits among which `answerable` looks for a relevant one
TAIL = slice(10, 50)  # by cosine: candidates that seldom fit
TYPICAL_TAIL = 0.65  # their mean cosine, where a question has no more than ten candidates
OF_PAPER = ("best_cosine", "cosine_above_tail", "bm25_per_word", "fused")
OF_PAPERS = ("cosine", "cosine_above_tail", "bm25_per_word", "lead")
OF_ANSWER = ("relevance", "words")


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
    sim, bm25 = paper.candidate.sim, paper.candidate.bm25
    above = (behind.floor if sim is None else sim) - behind.tail
    return (behind.best, above, (bm25 or 0.0) / behind.words, paper.fused.score)


def features_of_papers(papers: Collection[Ranked], behind: Background) -> tuple[float, ...]:
    """`OF_PAPERS` of some candidates, at least one: each feature is that of the best of them."""
    cosine = max(behind.floor if each.candidate.sim is None else each.candidate.sim for each in papers)
    bm25 = max(each.candidate.bm25 or 0.0 for each in papers) / behind.words
    return (cosine, cosine - behind.tail, bm25, max(each.fused.score for each in papers) - behind.others)


def relevance(ranked: Sequence[Ranked], behind: Background) -> dict[str, float]:
    """The probability of each candidate to be relevant, by PMID."""
    model = calibrated("relevance", OF_PAPER)
    return {each.candidate.pmid: model.probability(features_of_paper(each, behind)) for each in ranked}


def answerable(ranked: Sequence[Ranked], behind: Background) -> float:
    """The probability that a relevant paper is among the first `FIRST` by both legs; 0 without candidates."""
    first = nlargest(FIRST, ((each.fused.score, int(each.candidate.pmid), each) for each in ranked))
    if not first:
        return 0.0
    features = features_of_papers([each for *_, each in first], behind)
    return calibrated("answerable", OF_PAPERS).probability(features)


def features_of_answer(relevant: float, words: float) -> tuple[float, float]:
    """`OF_ANSWER` of a paper that has all that the question names: the log-odds of its relevance, and the share of the
    question's words that it has."""
    odds = log(relevant / (1 - relevant)) if 0 < relevant < 1 else STEEPEST * (2 * round(relevant) - 1)
    return (odds, words)


def answers(relevant: float, words: float) -> float:
    """The probability that such a paper answers the question: the share of answers like it whose first citation did."""
    return calibrated("confidence", OF_ANSWER).probability(features_of_answer(relevant, words))


COVERAGE_WEIGHT = 0.15
FITS_FROM = 0.74
UNLIKELY, DOUBTFUL = 0.15, 0.4  # probabilities that a corpus answers a question


LIKELY = 0.2  # the least probability of a paper that something of it says to be relevant


def is_open(sim: float | None) -> bool:
    """Whether the cosine alone does not say if a text is a weak match."""
    return sim is None or sim < FITS_FROM


def is_weak(sim: float | None, text: str, terms: Collection[str]) -> bool:
    """Whether neither meaning nor words connect a text with a question of these terms.

    The text is read only where the cosine leaves it open. Without a cosine, which is then below that of every paper
    that the vectors returned, it must have every term.
    """
    if not is_open(sim):
        return False
    covered = overlap(text, terms) / len(terms)
    return covered < 1 and (sim is None or sim + COVERAGE_WEIGHT * covered < FITS_FROM)


def is_unanswered(answerable: float, all_weak: bool) -> bool:
    """Whether probably no paper of the corpus answers: `answerable` says so alone, or where every hit is weak."""
    return answerable < (DOUBTFUL if all_weak else UNLIKELY)
