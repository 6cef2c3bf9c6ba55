"""The figures of an evaluation, by their names."""

import json

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating.figures import METRICS, AnswerOutcome, CitedOutcome, Outcome, chosen, figures

RIGHT = CitedOutcome(right=True, evidence=True, finding=True)
BESIDE = CitedOutcome(right=True)
FOUND = CitedOutcome(right=True, finding=True)
OTHER = CitedOutcome()


def outcome(name, places=(1,), relevant=1, **more):
    return Outcome(name, relevant, places, **more)


CITED = (CitedOutcome(right=True, evidence=True), CitedOutcome(intact=False, retracted=True))
WHOLE = Outcome("a", 2, (1, 7), True, AnswerOutcome(True, 0.7, CITED, ((0,), (0, 1))), AnswerOutcome(False, 0.1))
RANKED = [outcome("a", (1,)), outcome("b", (2, 12), 2), outcome("c", ()), outcome("nothing answers it", (), 0)]
WITHHELD = AnswerOutcome(False, 0.1, (OTHER, RIGHT))
ANSWERED = [
    outcome(
        "a", judged=True, answer=AnswerOutcome(True, 0.9, (RIGHT, BESIDE, OTHER), ((0,), (1,), (2,))), without=WITHHELD
    ),
    outcome(
        "b", judged=True, answer=AnswerOutcome(True, 0.8, (OTHER, OTHER), ((0, 1),)), without=AnswerOutcome(True, 0.7)
    ),
    outcome("c", judged=True, answer=WITHHELD, without=WITHHELD),
    outcome("d", answer=AnswerOutcome(True, 0.6, (BESIDE,), ((0,),)), without=WITHHELD),
    outcome("nothing answers it", (), 0, answer=AnswerOutcome(True, 0.5, (OTHER,), ((0,),))),
]


def of(outcomes, name):
    [metric] = chosen([name])
    return metric.result(outcomes)


BAD = CitedOutcome(intact=False, retracted=True)
DAMAGED = [outcome("a", answer=AnswerOutcome(True, 1, (CitedOutcome(right=True, intact=False), RIGHT), ((0, 1),)))]
ONE_SENTENCE = [outcome("a", judged=True, answer=AnswerOutcome(True, 1, (RIGHT, OTHER), ((0, 1),)))]
BOTH_ANSWERS = [
    outcome("a", answer=AnswerOutcome(True, 1, (RIGHT,)), without=AnswerOutcome(False, 0, (BAD, OTHER, OTHER)))
]
CORRECTED = [outcome("a", (), 0, judged=True, answer=AnswerOutcome(True, 0.9, (RIGHT,), ((0,),)))]
MIXED = [*ANSWERED, outcome("e", answer=AnswerOutcome(True, 0.8, (FOUND, BESIDE, OTHER)))]
FIGURES = [
    # every answer that was given, also to a question that no paper answers; what is withheld counts for nothing
    ("cited_findings", ANSWERED, (1 + 0 + 0 + 0) / (3 + 2 + 1 + 1), 4),
    ("cited_findings", MIXED, (1 + 0 + 0 + 0 + 1) / (3 + 2 + 1 + 1 + 3), 5),
    ("first_right", ANSWERED, 2 / 4, 4),
    ("given_without_evidence", ANSWERED, 2 / 4, 4),
    ("unanswerable_answered", CORRECTED, 0, 1),
    # rankings: the questions that have an answer
    ("R@10", RANKED, (1 + 0.5 + 0) / 3, 3),
    ("R@100", RANKED, (1 + 1 + 0) / 3, 3),
    ("MRR", RANKED, (1 + 0.5 + 0) / 3, 3),
    # sentences of answers that were given to questions with an answer; one whose quote is not intact is not factual
    ("factuality", ANSWERED, (2 + 0 + 1) / (3 + 1 + 1), 3),
    ("factuality", DAMAGED, 0, 1),
    ("right_paper", ANSWERED, 2 / 3, 3),
    ("withheld", ANSWERED, 0.25, 4),
    # the first quotes, whether or not the answer was withheld, where the rationale is known
    ("evidence_hit@1", ANSWERED, 1 / 3, 3),
    ("evidence_hit@3", ANSWERED, 2 / 3, 3),
    ("evidence_hit@5", ANSWERED, 2 / 3, 3),
    # the rationale, sentence by sentence
    ("citation_recall", ANSWERED, (1 / 3 + 0) / 2, 2),
    ("citation_precision", ANSWERED, (1 / 3 + 0) / 2, 2),
    ("citation_recall", ONE_SENTENCE, 1, 1),
    ("citation_precision", ONE_SENTENCE, 0.5, 1),
    # both answers of a question
    ("quote_integrity", BOTH_ANSWERS, 0.75, 1),
    ("retracted_cited", BOTH_ANSWERS, 0.25, 1),
    ("quote_integrity", ANSWERED, 1, 5),
    # what is answered without any right paper
    ("still_answered", ANSWERED, 0.25, 4),
    ("unanswerable_answered", ANSWERED, 1, 1),
]


@pytest.mark.parametrize(("name", "outcomes", "value", "questions"), FIGURES)
def test_a_figure_is_of_the_questions_that_say_something_on_it(name, outcomes, value, questions):
    found = of(outcomes, name)
    assert (found.value, found.questions) == (pytest.approx(value), questions)
    assert found.low <= found.value <= found.high


def test_confidences_are_compared_with_what_is_right_over_the_answers_given():
    asked = [outcome("a", answer=AnswerOutcome(True, 0.95, (RIGHT,)), without=AnswerOutcome(False, 0.05))] * 3
    assert of(asked, "ECE").value == pytest.approx(0.05)
    found = of(ANSWERED, "ECE")
    assert 0 < found.low <= found.value
    assert (found.questions, found.rising) == (4, False)


def test_a_figure_that_no_question_says_anything_on_is_left_out():
    assert {each.name for each in figures(METRICS, RANKED)} == {each.name for each in METRICS if not each.of_answers}
    assert figures(METRICS, []) == ()


def test_names_are_the_contracts_with_any_depth_in_any_case():
    assert [each.name for each in chosen(["R@k", "mrr"])] == ["R@1", "R@5", "R@10", "R@100", "MRR"]
    assert [each.name for each in chosen(["r@7", "nDCG@3", "ece"])] == ["R@7", "nDCG@3", "ECE"]
    assert [each.name for each in chosen(["nDCG@k", "nDCG@10"])] == ["nDCG@10"]
    assert [each.name for each in chosen(["evidence_hit@k"])] == ["evidence_hit@1", "evidence_hit@3", "evidence_hit@5"]
    assert chosen([]) == METRICS


@pytest.mark.parametrize("name", ["bleu", "R@0", "R@101", "R@", "R@1e9", "", "@k", "evidence_hit@2"])
def test_another_name_is_refused_with_those_that_there_are(name):
    with pytest.raises(InvalidInput, match=r"choose among R@k, MRR, nDCG@k, .*factuality"):
        chosen([name])


def test_an_outcome_that_a_job_holds_is_the_same_when_it_is_read_and_takes_little_room():
    for outcome in (WHOLE, Outcome("b", 0)):
        assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome
    assert len(json.dumps(WHOLE.to_json())) < 250
