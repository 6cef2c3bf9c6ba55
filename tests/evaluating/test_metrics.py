"""The figures of an evaluation, by their names."""

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating.metrics import RANKING, chosen
from bio_mcp.evaluating.outcomes import RankingOutcome

OUTCOMES = [
    RankingOutcome("a", 1, (1,), near_miss=2),
    RankingOutcome("b", 2, (2, 12), near_miss=1),
    RankingOutcome("c", 1, ()),
    RankingOutcome("nothing answers it", 0),
]


def value(name):
    [metric] = chosen([name])
    return metric.result(OUTCOMES)


def test_each_figure_is_of_the_questions_that_have_an_answer():
    assert value("R@10").value == pytest.approx((1 + 0.5 + 0) / 3)
    assert value("R@100").value == pytest.approx((1 + 1 + 0) / 3)
    assert value("MRR").value == pytest.approx((1 + 0.5 + 0) / 3)
    assert value("MRR").questions == 3
    assert value("MRR").low < value("MRR").value < value("MRR").high


def test_a_near_miss_is_first_where_it_comes_before_every_right_paper():
    found = value("near_miss_first")
    assert (found.value, found.questions, found.rising) == (0.5, 2, False)


def test_a_figure_that_no_question_says_anything_on_is_none():
    assert chosen(["MRR"])[0].result(OUTCOMES[3:]) is None


def test_names_are_the_contracts_with_any_depth_in_any_case():
    assert [each.name for each in chosen(["R@k", "mrr"])] == ["R@1", "R@5", "R@10", "R@100", "MRR"]
    assert [each.name for each in chosen(["r@7", "nDCG@3"])] == ["R@7", "nDCG@3"]
    assert [each.name for each in chosen(["nDCG@k", "nDCG@10"])] == ["nDCG@10"]
    assert chosen([]) == RANKING


@pytest.mark.parametrize("name", ["bleu", "R@0", "R@101", "R@", "R@1e9", ""])
def test_another_name_is_refused_with_those_that_there_are(name):
    with pytest.raises(InvalidInput, match=r"choose among R@k, nDCG@k, MRR"):
        chosen([name])


def test_an_outcome_is_saved_and_read_again():
    assert [RankingOutcome.from_json(each.to_json()) for each in OUTCOMES] == OUTCOMES
