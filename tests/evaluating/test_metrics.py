"""The figures of an evaluation, by their names."""

import json

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating.figures import METRICS, AnswerOutcome, CitedOutcome, Outcome, chosen, figures

RIGHT = CitedOutcome(right=True, evidence=True)
BESIDE = CitedOutcome(right=True)
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


def value(name, outcomes=ANSWERED):
    return of(outcomes, name).value


def test_figures_of_rankings_are_of_the_questions_that_have_an_answer():
    assert value("R@10", RANKED) == pytest.approx((1 + 0.5 + 0) / 3)
    assert value("R@100", RANKED) == pytest.approx((1 + 1 + 0) / 3)
    found = of(RANKED, "MRR")
    assert found.value == pytest.approx((1 + 0.5 + 0) / 3)
    assert found.questions == 3
    assert found.low < found.value < found.high


def test_factuality_is_of_the_sentences_of_answers_that_were_given_to_questions_with_an_answer():
    assert value("factuality") == (2 + 0 + 1) / (3 + 1 + 1)


def test_a_sentence_whose_quote_is_not_intact_is_not_factual():
    damaged = CitedOutcome(right=True, intact=False)
    assert value("factuality", [outcome("a", answer=AnswerOutcome(True, 1, (damaged, RIGHT), ((0, 1),)))]) == 0


def test_right_papers_are_looked_for_in_answers_that_were_given():
    assert value("right_paper") == pytest.approx(2 / 3)
    assert value("withheld") == 0.25


def test_evidence_is_looked_for_in_the_first_quotes_whether_or_not_the_answer_was_withheld():
    assert value("evidence_hit@1") == pytest.approx(1 / 3)
    assert value("evidence_hit@3") == pytest.approx(2 / 3)
    assert of(ANSWERED, "evidence_hit@5").questions == 3  # those whose rationale is known


def test_citations_are_compared_with_the_rationale_sentence_by_sentence():
    assert value("citation_recall") == pytest.approx((1 / 3 + 0) / 2)
    assert value("citation_precision") == pytest.approx((1 / 3 + 0) / 2)
    both = AnswerOutcome(True, 1, (RIGHT, OTHER), ((0, 1),))
    assert value("citation_recall", [outcome("a", judged=True, answer=both)]) == 1
    assert value("citation_precision", [outcome("a", judged=True, answer=both)]) == 0.5


def test_quotes_and_retracted_papers_are_counted_in_both_answers_of_a_question():
    bad = CitedOutcome(intact=False, retracted=True)
    asked = [
        outcome("a", answer=AnswerOutcome(True, 1, (RIGHT,)), without=AnswerOutcome(False, 0, (bad, OTHER, OTHER)))
    ]
    assert value("quote_integrity", asked) == 0.75
    assert value("retracted_cited", asked) == 0.25
    assert value("quote_integrity") == 1


def test_what_is_answered_without_any_right_paper_is_counted_apart():
    assert value("still_answered") == 0.25
    assert of(ANSWERED, "unanswerable_answered").questions == 1
    assert value("unanswerable_answered") == 1


def test_confidences_are_compared_with_what_is_right_over_every_answer():
    asked = [outcome("a", answer=AnswerOutcome(True, 0.95, (RIGHT,)), without=AnswerOutcome(False, 0.05))] * 3
    assert value("ECE", asked) == pytest.approx(0.05)
    found = of(ANSWERED, "ECE")
    assert 0 < found.low <= found.value
    assert (found.questions, found.rising) == (5, False)


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
