"""Outcomes are saved in a job, and read again."""

import json

from bio_mcp.evaluating.outcomes import AnswerOutcome, CitedOutcome, Outcome, RankingOutcome

CITED = (CitedOutcome(right=True, evidence=True), CitedOutcome(intact=False, near_miss=True, retracted=True))
WHOLE = Outcome(
    "a", 2, RankingOutcome((1, 7), 3), True, AnswerOutcome(True, 0.7, CITED, ((0,), (0, 1))), AnswerOutcome(False, 0.1)
)


def test_an_outcome_is_the_same_after_it_was_saved():
    for outcome in (WHOLE, Outcome("b", 0, RankingOutcome())):
        assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_an_outcome_takes_little_room():
    assert len(json.dumps(WHOLE.to_json())) < 250
