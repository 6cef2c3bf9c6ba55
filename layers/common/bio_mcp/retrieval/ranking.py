"""How scores of words and vectors become one order."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from heapq import nlargest, nsmallest
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from bio_mcp.errors import InvalidInput, ModelMismatch
from bio_mcp.literature.quality import total_of, total_quality
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.passages import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bio_mcp.retrieval.passages import Vectors


def unit_vector(numbers: Sequence[float], dim: int, name: str) -> "NDArray[np.float32]":
    """Scale `numbers` to length 1. `name` is what errors call it.

    Raises `ModelMismatch` for another length than `dim`, `InvalidInput` where a number is not finite or all are 0.
    """
    import numpy as np

    if len(numbers) != dim:
        raise ModelMismatch(f"{name} has {len(numbers)} numbers; the project's model makes vectors of {dim}")
    wide = np.asarray(numbers, np.float64)
    largest = np.abs(wide).max()
    if not np.isfinite(largest):
        raise InvalidInput(f"{name}: not every number is finite")
    if largest == 0:
        raise InvalidInput(f"{name}: every number is 0, which no text has for a vector")
    wide /= largest  # or squares of very small and very large numbers would be 0 and infinite
    unit: NDArray[np.float32] = (wide / np.linalg.norm(wide)).astype(np.float32)
    return unit


K = 60  # of the formula, as in Cormack et al., SIGIR 2009


def reciprocal_ranks(legs: Sequence[Sequence[str]]) -> dict[str, float]:
    """Fuse ranked ids: the sum of 1 / (`K` + rank), divided by what the first place in every leg would give.

    A score is in (0, 1]: 1 for what is first in all `legs`. An id counts once in a leg, at its first place.
    """
    scores: dict[str, float] = {}
    for leg in legs:
        for rank, each in enumerate(dict.fromkeys(leg), start=1):
            scores[each] = scores.get(each, 0.0) + (K + 1) / (K + rank) / len(legs)
    return scores


BM25_K1, BM25_B = 1.2, 0.5  # what the lexical leg of every engine is set to
SEMANTIC_PRIOR = 2.0
ALIKE = 1e-6  # scores that differ by less are equal
RETRACTED_FACTOR = 0.5
NAMED = 2.0  # added to the score of a paper that a query names: above that of every other
FEEDBACK_PAPERS = 4  # best of the first ranking; the query is moved towards their mean vector, and gets their words
FEEDBACK_WEIGHT = 0.5  # of that mean beside the query's own vector
FEEDBACK_TERM_WEIGHT = 0.4  # of the most frequent of their terms beside a term of the query
FEEDBACK_TERMS = 100  # added at most


class Fused(NamedTuple):
    """Each leg's share of a document's score; `semantic` + `lexical` is in [0, 1]."""

    semantic: float
    lexical: float

    @property
    def score(self) -> float:
        """The sum, in [0, 1]."""
        return self.semantic + self.lexical


MATCHED = Fused(0.0, 1.0)
"""The shares of a document that a query finds which has nothing to rank by."""


class Reranked(NamedTuple):
    """What a reranker made of a document: the `score` that it gave, and the `base` that stands for the fused score."""

    score: float
    base: float


class Places(NamedTuple):
    """A document's place by words and by meaning, from 1; None where that leg did not find it."""

    lexical: int | None
    semantic: int | None


@dataclass(slots=True)
class Ranked:
    """A document in its place. `score` is the key it was ranked by, six decimals; `quality_points` (0 to 9) its
    quality on `today`. `named`: the query names it by an identifier or its title."""

    candidate: Candidate
    fused: Fused
    quality_points: int
    score: float
    biased: bool
    today: date
    named: bool = False
    reranked: Reranked | None = None

    @property
    def explanation(self) -> str:
        """The score's derivation in one sentence, for agents and readers."""
        by_legs = f"meaning {self.fused.semantic:.2f} + words {self.fused.lexical:.2f}"
        reason = f"named by the query (+{NAMED:.0f}), " if self.named else ""
        reason += "matches the query" if self.fused is MATCHED else by_legs
        if self.reranked:
            reason += f", set to {self.reranked.base:.2f} by the reranker, which gave it {self.reranked.score:.3g}"
        if self.candidate.retraction is RetractionStatus.RETRACTED:
            return f"{reason}, times {RETRACTED_FACTOR} because it was retracted"
        if not self.biased:
            return reason
        paper = self.candidate
        quality = total_quality(paper.quality, paper.year, paper.retraction, self.today)
        reasons = ", ".join(quality.reasons) or "nothing known of it"
        factor = apply_quality_bias(1, self.quality_points)
        return f"{reason}, times {factor:.1f} for quality {self.quality_points}: {reasons}"


def fuse(candidates: Sequence[Candidate], depth: int) -> dict[str, Fused]:
    """Compute the share of each leg in each document's score, by PMID.

    `depth` is the number of documents that a leg returns; the last of them has 0.
    """
    sims = {each.pmid: each.sim for each in candidates if each.sim is not None}
    semantic, far = _scale(sims, depth)
    any_word = any(each.bm25 for each in candidates)
    lexical, wide = _scale({each.pmid: each.bm25 or 0.0 for each in candidates if any_word}, depth)
    weight = SEMANTIC_PRIOR * far / (SEMANTIC_PRIOR * far + wide) if far or wide else 0.0
    return {
        each.pmid: Fused(weight * semantic.get(each.pmid, 0.0), (1 - weight) * lexical.get(each.pmid, 0.0))
        for each in candidates
    }


def _scale(scores: Mapping[str, float], depth: int) -> tuple[dict[str, float], float]:
    """Scale the best `depth` scores to [0, 1] (min-max, 0 below them); also their range in standard deviations.

    Equal scores are all best: each is 1, and the range is 2.0, that of any two scores. No scores have range 0.
    """
    if not scores:
        return {}, 0.0
    top = sorted(scores.values(), reverse=True)[:depth]
    high, low = top[0], top[-1]
    if high - low < ALIKE:
        return dict.fromkeys(scores, 1.0), 2.0
    scaled = {pmid: (score - low) / (high - low) if score > low else 0.0 for pmid, score in scores.items()}
    mean = sum(top) / len(top)
    return scaled, (high - low) / sqrt(sum((score - mean) ** 2 for score in top) / len(top))


def rank(
    candidates: Iterable[Candidate],
    fused: Mapping[str, Fused],
    today: date,
    *,
    quality_bias: bool,
    named: Collection[str] = (),
) -> list[Ranked]:
    """Sort candidates by score, then quality, then PMID, all descending. Those whose PMIDs are `named` come first.

    `fused` must have every candidate's PMID. The order is total, so equal input gives an equal list on every engine.
    """
    ranked = []
    for each in candidates:
        share, points = fused[each.pmid], total_of(each.quality, each.year, each.retraction, today)
        ranked.append(_placed(Ranked(each, share, points, 0.0, quality_bias, today, each.pmid in named), share.score))
    return sorted(ranked, key=_order)


def rerank(ranked: Sequence[Ranked], scores: Mapping[str, float]) -> list[Ranked]:
    """Sort documents anew by the `scores` that a reranker gave some of them, by PMID.

    Those share out their own fused scores among them, the highest to the one that the reranker scores highest, so that
    the others stay where they were. Retraction and quality count as before. Equal scores leave the order as it was.
    """
    some = [each for each in ranked if each.candidate.pmid in scores]
    bases = sorted((each.fused.score for each in some), reverse=True)
    best_first = sorted(some, key=lambda each: -scores[each.candidate.pmid])
    given = {each.candidate.pmid: base for each, base in zip(best_first, bases, strict=True)}
    anew = []
    for each in ranked:
        if (base := given.get(pmid := each.candidate.pmid)) is None:
            anew.append(each)
        else:
            anew.append(_placed(replace(each, reranked=Reranked(scores[pmid], base)), base))
    return sorted(anew, key=_order)


def _order(each: Ranked) -> tuple[float, int, int]:
    """What documents are sorted by."""
    return -each.score, -each.quality_points, -int(each.candidate.pmid)


def _placed(each: Ranked, base: float) -> Ranked:
    """The document with the score, to six decimals, that `base` comes to."""
    score = base * (RETRACTED_FACTOR if each.candidate.retraction is RetractionStatus.RETRACTED else 1.0)
    score = apply_quality_bias(score, each.quality_points) if each.biased else score
    each.score = round(score + NAMED * each.named, 6)
    return each


def places_in_legs(ranked: Iterable[Ranked]) -> dict[str, Places]:
    """The place of each document in each leg, by PMID. Documents with equal shares have the same place."""
    documents = list(ranked)
    lexical = sorted(-each.fused.lexical for each in documents)
    semantic = sorted(-each.fused.semantic for each in documents)
    return {
        each.candidate.pmid: Places(
            None if each.candidate.bm25 is None else bisect_left(lexical, -each.fused.lexical) + 1,
            None if each.candidate.sim is None else bisect_left(semantic, -each.fused.semantic) + 1,
        )
        for each in documents
    }


def feedback_papers(candidates: Iterable[Candidate], fused: Mapping[str, Fused]) -> list[str]:
    """PMIDs of the `FEEDBACK_PAPERS` best papers of a first ranking, retracted ones excluded."""
    valid = [each.pmid for each in candidates if each.retraction is not RetractionStatus.RETRACTED]
    return [str(number) for _, number in nlargest(FEEDBACK_PAPERS, ((fused[pmid].score, int(pmid)) for pmid in valid))]


def mean_vector(vectors: "Vectors") -> "NDArray[np.float32]":
    """The mean of unit vectors, the rows, as a unit vector."""
    mean: NDArray[np.float32] = vectors.mean(axis=0)
    return (mean / max(sqrt(mean @ mean), 1e-12)).astype("float32")


def move_towards(
    vector: "NDArray[np.float32]", papers: "Sequence[tuple[float, NDArray[np.float32]]]"
) -> "NDArray[np.float32]":
    """Move `vector` towards the mean of `papers`, weighted by their scores (Rocchio feedback); all are unit vectors.

    Returns `vector` itself when the mean has no length, as without papers.
    """
    mean = sum((score * paper for score, paper in papers), start=0 * vector)
    length = sqrt(mean @ mean)
    if length < ALIKE:
        return vector
    towards = vector + FEEDBACK_WEIGHT / length * mean
    return (towards / sqrt(towards @ towards)).astype("float32")


def terms_of(texts: Iterable[tuple[float, str]]) -> list[tuple[str, float]]:
    """The terms of some texts, each with its score, and their weights: the share of a text that each is, times the
    text's score, relative to the highest."""
    shares: defaultdict[str, float] = defaultdict(float)
    for score, text in texts:
        terms = analyse(text)
        for term, count in Counter(terms).items():
            if len(term) > 1:
                shares[term] += score * count / len(terms)
    best = nsmallest(FEEDBACK_TERMS, ((-share, term) for term, share in shares.items()))
    return [(term, FEEDBACK_TERM_WEIGHT * share / best[0][0]) for share, term in best if share]


def apply_quality_bias(score: float, quality: float) -> float:
    """Apply the contract's quality bias, `score * (1 + quality / 10)`: 0.72 and 9 give 1.368."""
    return score * (1 + quality / 10)


def rounded(score: float | None) -> float | None:
    """A score as answers show it."""
    return None if score is None else round(score, 6)
