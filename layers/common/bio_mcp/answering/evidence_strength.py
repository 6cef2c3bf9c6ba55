"""How strong the evidence for a statement is, from the papers that it cites: their designs, number and retractions.

High: a systematic review, or two randomized trials. Moderate: a randomized trial, or two trials or observational
studies of humans. Low: anything else, an unknown paper and none at all among it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from bio_mcp.literature.quality import best_design, human, year
from bio_mcp.literature.records import Document, RetractionStatus

NOT_EVIDENCE = (RetractionStatus.RETRACTED, RetractionStatus.NOTICE)
_REVIEW, _RANDOMIZED, _OBSERVED = 3, 2, 1  # points of quality's designs
_ANIMALS = 1  # quality's points


class Strength(IntEnum):
    """The contract's words, in order."""

    LOW = 0
    MODERATE = 1
    HIGH = 2

    @property
    def word(self) -> str:
        """As the contract spells it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper that is cited. `design` is in quality's points, None where unknown; `name` says which design it is.

    `retraction` is None for a paper that the corpus does not have, of which nothing is known.
    """

    pmid: str
    title: str | None = None
    year: int | None = None
    design: int | None = None
    name: str = "design unknown"
    retraction: RetractionStatus | None = None

    @property
    def counts(self) -> bool:
        """Whether it is evidence at all."""
        return self.retraction not in NOT_EVIDENCE

    @property
    def summary(self) -> str:
        """The paper in a few words: `PMID 1 (2019, randomized controlled trial)`."""
        if self.retraction is None:
            return f"PMID {self.pmid} (not in the corpus, so its design and retraction state are unknown)"
        state = {RetractionStatus.CONCERN: "expression of concern"}.get(self.retraction, "")
        state = "retracted" if self.retraction is RetractionStatus.RETRACTED else state
        state = "a retraction notice" if self.retraction is RetractionStatus.NOTICE else state
        known = [str(self.year) if self.year else "", self.name, state]
        return f"PMID {self.pmid} ({', '.join(filter(None, known))})"


def paper_of(pmid: str, document: Document | None) -> Paper:
    """What the corpus knows of a paper. One of animals only is preclinical, whatever its design."""
    if document is None:
        return Paper(pmid)
    article = document.article
    points, name = best_design(article) or (None, "design unknown")
    if points and human(article) == _ANIMALS:
        points, name = 0, f"{name} of animals"
    return Paper(pmid, article.title, year(article), points, name, article.retraction)


@dataclass(frozen=True, slots=True)
class Graded:
    """A strength and the sentences by which it is derived."""

    strength: Strength
    derivation: tuple[str, ...]


def grade(papers: Sequence[Paper], *, by_rule: bool = False, about: str | None = None) -> Graded:
    """Derive the strength of a statement that cites `papers`.

    `by_rule`: no person has read it out of its document; then it is moderate at most. `about` names what the papers are
    about where that is only a part of what is asked, as a constituent of a herb; then it is one step lower.
    """
    strength, why = _by_design([each for each in papers if each.counts])
    sentences = [why, *(f"{each.summary} does not count" for each in papers if not each.counts)]
    if strength and by_rule and strength > Strength.MODERATE:
        strength = Strength.MODERATE
        sentences.append("moderate at most: it was read out of a document by rule, and by no person")
    if about and strength:
        strength = Strength(strength - 1)
        sentences.append(f"one step lower: it is about {about}")
    return Graded(strength, tuple(sentences))


def _by_design(papers: Sequence[Paper]) -> tuple[Strength, str]:
    """The strength by design and number, and the papers that make it."""
    points = {each.pmid: 0 if each.retraction is RetractionStatus.CONCERN else each.design or 0 for each in papers}
    reviews, randomized, observed = (
        [each for each in papers if points[each.pmid] >= least] for least in (_REVIEW, _RANDOMIZED, _OBSERVED)
    )
    if reviews:
        return Strength.HIGH, f"high by {_listed(reviews)}"
    if len(randomized) > 1:
        return Strength.HIGH, f"high by two or more randomized trials: {_listed(randomized)}"
    if randomized:
        return Strength.MODERATE, f"moderate by one randomized trial: {_listed(randomized)}"
    if len(observed) > 1:
        return Strength.MODERATE, f"moderate by two or more studies of humans: {_listed(observed)}"
    if not papers:
        return Strength.LOW, "low: no paper that counts is cited"
    return Strength.LOW, f"low: no more than {_listed(papers)}"


def _listed(papers: Sequence[Paper]) -> str:
    return "; ".join(each.summary for each in papers)
