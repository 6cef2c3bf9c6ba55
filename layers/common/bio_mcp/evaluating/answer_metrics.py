"""Figures of answers. What a question has no paper or no rationale for says nothing on those that take one.

An answer cites three papers at least, so where one paper answers a question, at most a third of its sentences can be
from that paper: factuality, citation_recall and citation_precision are to be compared between runs, not with 1.
"""

from collections.abc import Callable

from bio_mcp.evaluating.figures import Metric, OfConfidences, Ratio, Share
from bio_mcp.evaluating.measures import area_under_risk, calibration_error, risk_coverage
from bio_mcp.evaluating.outcomes import AnswerOutcome, Outcome


def _given(outcome: Outcome) -> AnswerOutcome | None:
    """The answer to a question that papers answer, where it was not withheld."""
    return outcome.answer if outcome.answer and outcome.relevant and outcome.answer.answered else None


def _factuality(outcome: Outcome) -> Share | None:
    if not (answer := _given(outcome)):
        return None
    sentences = [[answer.cited[at] for at in places] for places in answer.sentences]
    supported = [all(each.intact for each in cited) and any(each.right for each in cited) for cited in sentences]
    return sum(supported), len(sentences)


def _right_paper(outcome: Outcome) -> Share | None:
    return (float(answer.right), 1) if (answer := _given(outcome)) else None


def _withheld(outcome: Outcome) -> Share | None:
    return (float(not outcome.answer.answered), 1) if outcome.answer and outcome.relevant else None


def _evidence_hit(depth: int) -> Ratio:
    def of(outcome: Outcome) -> Share | None:
        if not (outcome.answer and outcome.judged):
            return None
        return float(any(each.evidence for each in outcome.answer.cited[:depth])), 1

    meaning = f"share of questions where one of the first {depth} quotes, withheld or not, overlaps the rationale"
    return Ratio(f"evidence_hit@{depth}", meaning, of)


def _citation_recall(outcome: Outcome) -> Share | None:
    if not (outcome.judged and (answer := _given(outcome)) and answer.sentences):
        return None
    supported = [any(answer.cited[at].evidence for at in places) for places in answer.sentences]
    return sum(supported) / len(supported), 1


def _citation_precision(outcome: Outcome) -> Share | None:
    if not (outcome.judged and (answer := _given(outcome)) and any(answer.sentences)):
        return None
    cited = [answer.cited[at].evidence for places in answer.sentences for at in places]
    return sum(cited) / len(cited), 1


def _still_answered(outcome: Outcome) -> Share | None:
    return (float(outcome.without.answered), 1) if outcome.without else None


def _unanswerable_answered(outcome: Outcome) -> Share | None:
    return (float(outcome.answer.answered), 1) if outcome.answer and not outcome.relevant else None


def _misled(outcome: Outcome) -> Share | None:
    if not (answer := _given(outcome)):
        return None
    return float(not answer.right and any(each.near_miss for each in answer.cited)), 1


def _of_citations(counts: Callable[[AnswerOutcome], int]) -> Callable[[Outcome], Share | None]:
    """A share of all citations, of answers from the whole corpus and without the right papers."""

    def of(outcome: Outcome) -> Share | None:
        cited = sum(len(each.cited) for each in outcome.answers)
        return (sum(map(counts, outcome.answers)), cited) if cited else None

    return of


ANSWERS: tuple[Metric, ...] = (
    Ratio("factuality", "share of an answer's sentences whose quotes are intact and one of a right paper", _factuality),
    Ratio("right_paper", "share of answers that cite a right paper", _right_paper),
    Ratio("withheld", "share of questions with a right paper whose answer is withheld", _withheld, rising=False),
    *map(_evidence_hit, (1, 3, 5)),
    Ratio("citation_recall", "share of an answer's sentences whose quote overlaps the rationale", _citation_recall),
    Ratio("citation_precision", "share of an answer's citations that overlap the rationale", _citation_precision),
    Ratio(
        "quote_integrity",
        "share of quotes that stand at their place in the stored version, to the byte",
        _of_citations(lambda answer: sum(each.intact for each in answer.cited)),
        invariant=True,
    ),
    OfConfidences(
        "ECE",
        "distance of an answer's confidence and the share of answers that cite a right paper",
        lambda *given: calibration_error(*given),
    ),
    OfConfidences(
        "AURC",
        "mean share of answers without a right paper, over every number of the most confident answers",
        lambda *given: area_under_risk(risk_coverage(*given)),
    ),
    Ratio(
        "still_answered",
        "share of questions that are answered although their right papers were taken out of the corpus",
        _still_answered,
        rising=False,
    ),
    Ratio(
        "unanswerable_answered",
        "share of the questions that no paper answers which are answered all the same",
        _unanswerable_answered,
        rising=False,
    ),
    Ratio(
        "misled",
        "share of answers that cite a paper most similar to a right one, and no right one",
        _misled,
        rising=False,
    ),
    Ratio(
        "retracted_cited",
        "share of citations that are of a retracted paper",
        _of_citations(lambda answer: sum(each.retracted for each in answer.cited)),
        rising=False,
        invariant=True,
    ),
)
