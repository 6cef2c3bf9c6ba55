"""From two legs to one ranked list: normalise, add, demote what was retracted, lift good evidence.

Each leg's scores are scaled so that its best document has 1 and its last one 0; where fewer than its depth hold a
word of the query, the last has a BM25 of 0. A leg weighs by how far its best stands out, (best - last) / standard
deviation, so that the sum orders as the sum of standard scores does; the semantic leg weighs `SEMANTIC_PRIOR` times
more. The weights add up to 1, so the sum is in [0, 1]; with one leg empty the other counts alone. On the development
sets this beat reciprocal ranks and fixed weights (docs/benchmarks.md).

A retracted paper keeps `RETRACTED_FACTOR` of it. With the quality bias the result is multiplied by
(1 + quality / 10), so 0.72 of a paper of quality 9 becomes 1.37.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from bio_mcp.literature.quality import Quality, total_of, total_quality
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.retrieval.passages import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

BM25_K1, BM25_B = 1.2, 0.5  # what the lexical leg of every engine is set to
SEMANTIC_PRIOR = 1.4
ALIKE = 1e-6  # scores that differ by less are equal
RETRACTED_FACTOR = 0.5
FEEDBACK_PAPERS = 3  # best of the first ranking, towards whose mean vector the query is moved
FEEDBACK_WEIGHT = 0.5  # of that mean beside the query's own vector


class Fused(NamedTuple):
    """What each leg gives to a document: `semantic` + `lexical` is in [0, 1]."""

    semantic: float
    lexical: float

    @property
    def score(self) -> float:
        """The sum, in [0, 1]."""
        return self.semantic + self.lexical


@dataclass(slots=True)
class Ranked:
    """A document in its place. `score` is the key it was ranked by, six decimals; `quality_points` (0 to 9) its
    quality on `today`."""

    candidate: Candidate
    fused: Fused
    quality_points: int
    score: float
    biased: bool
    today: date

    @property
    def quality(self) -> Quality:
        """The points with their parts and reasons."""
        return total_quality(*_known(self.candidate), self.today)

    @property
    def explanation(self) -> str:
        """Why it stands where it does, in one sentence."""
        said = f"meaning {self.fused.semantic:.2f} + words {self.fused.lexical:.2f}"
        if self.candidate.retraction is RetractionStatus.RETRACTED:
            return f"{said}, times {RETRACTED_FACTOR} because it was retracted"
        if not self.biased:
            return said
        reasons = ", ".join(self.quality.reasons) or "nothing known of it"
        return f"{said}, times {biased(1, self.quality_points):.1f} for quality {self.quality_points}: {reasons}"


def fuse(candidates: Sequence[Candidate], depth: int, refined: Mapping[str, float] | None = None) -> dict[str, Fused]:
    """The share of each leg in each document's score, by PMID.

    `refined` has cosines to a better vector (relevance feedback) that stand in for `sim`; `depth` is how many
    documents a leg returns, the last of which has 0.
    """
    sims = refined or {each.pmid: each.sim for each in candidates if each.sim is not None}
    semantic, far = _scaled(sims, depth)
    found = any(each.bm25 for each in candidates)
    lexical, wide = _scaled({each.pmid: each.bm25 or 0.0 for each in candidates if found}, depth)
    weight = SEMANTIC_PRIOR * far / (SEMANTIC_PRIOR * far + wide) if far or wide else 0.0
    return {
        each.pmid: Fused(weight * semantic.get(each.pmid, 0.0), (1 - weight) * lexical.get(each.pmid, 0.0))
        for each in candidates
    }


def _scaled(scores: Mapping[str, float], depth: int) -> tuple[dict[str, float], float]:
    """Min-max over the best `depth` scores, 0 for what lies below, and their range in standard deviations.

    Equal scores are all best: 1, with the range that two scores have. No scores have no range.
    """
    if not scores:
        return {}, 0.0
    top = sorted(scores.values(), reverse=True)[:depth]
    high, low = top[0], top[-1]
    if high - low < ALIKE:
        return dict.fromkeys(scores, 1.0), 2.0
    scaled = {pmid: (score - low) / (high - low) if score > low else 0.0 for pmid, score in scores.items()}
    return scaled, (high - low) / _deviation(top)


def _deviation(scores: Sequence[float]) -> float:
    mean = sum(scores) / len(scores)
    return sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))


def rank(
    candidates: Iterable[Candidate], fused: Mapping[str, Fused], today: date, *, quality_bias: bool
) -> list[Ranked]:
    """Candidates by score, then quality, then PMID descending."""
    ranked = [_ranked(each, fused[each.pmid], today, quality_bias) for each in candidates]
    return sorted(ranked, key=lambda each: (-each.score, -each.quality_points, -int(each.candidate.pmid)))


def _ranked(candidate: Candidate, fused: Fused, today: date, quality_bias: bool) -> Ranked:
    points = total_of(*_known(candidate), today)
    score = fused.score * (RETRACTED_FACTOR if candidate.retraction is RetractionStatus.RETRACTED else 1.0)
    if quality_bias:
        score = biased(score, points)
    return Ranked(candidate, fused, points, round(score, 6), quality_bias, today)


def _known(candidate: Candidate) -> tuple[int | None, int | None, int | None, int | None, RetractionStatus]:
    kept = candidate.quality
    return kept.design, kept.journal, kept.human, candidate.year, candidate.retraction


def feedback_papers(candidates: Iterable[Candidate], fused: Mapping[str, Fused]) -> list[str]:
    """PMIDs of the best papers of a first ranking, none of them retracted."""
    standing = [each.pmid for each in candidates if each.retraction is not RetractionStatus.RETRACTED]
    return sorted(standing, key=lambda pmid: (-fused[pmid].score, -int(pmid)))[:FEEDBACK_PAPERS]


def moved(vector: "Vector", papers: "Sequence[tuple[float, Vector]]") -> "Vector":
    """`vector` moved towards the mean of `papers`, weighed by their scores; unit vectors all."""
    mean = sum((score * paper for score, paper in papers), start=0 * vector)
    length = sqrt(mean @ mean)
    if length < ALIKE:
        return vector
    towards = vector + FEEDBACK_WEIGHT / length * mean
    return (towards / sqrt(towards @ towards)).astype("float32")


def biased(score: float, quality: float) -> float:
    """The contract's quality bias: 0.72 and 9 give 1.368."""
    return score * (1 + quality / 10)
