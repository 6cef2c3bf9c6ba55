"""Decisions are stored in their order, once, and what replaces another is audited. Two people screen apart: what each
sees, when a record is settled, and the third decision."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from bio_mcp.ports.stores import ReviewPlan, ReviewRecord
from bio_mcp.screening.reviews import Decided, decide, review_of
from tests.support.reference_screenings import ReferenceScreenings

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
R = "statins"


def backends_of(screeners):
    made = SimpleNamespace(screenings=ReferenceScreenings(), now=lambda: NOON, audited=[])
    made.audit = SimpleNamespace(record=lambda *record: made.audited.append(record))
    made.screenings.put(R, [ReviewRecord(str(number), f"Title {number}") for number in range(1, 7)])
    made.screenings.put_plan(R, ReviewPlan(NOON, screeners))
    return made


@pytest.fixture
def one():
    return backends_of(1)


@pytest.fixture
def two():
    return backends_of(2)


def state(backends):
    return review_of(R, backends.screenings)


def say(backends, who, text, stage="abstract", **more):
    """ "1+ 2- 3? 4." as decisions of somebody; the point takes one back."""
    words = {"+": "include", "-": "exclude", "?": "maybe", ".": "none"}
    made = [Decided(each[0], words[each[1]], each[2:] or None) for each in text.split()]
    return decide(state(backends), stage, made, who, backends, **more)


def stored(backends):
    return [(each.record_id, each.stage, each.decision, each.reason) for each in backends.screenings.labels(R)]


def test_decisions_of_a_call_have_its_order_though_they_are_of_one_moment(one):
    say(one, "ann", "5+ 1-no_adults 3?")
    assert [(each[0], each[3]) for each in stored(one)] == [("5", None), ("1", "no_adults"), ("3", None)]
    assert {(each.at, each.caller) for each in one.screenings.labels(R)} == {(NOON, "ann")}


def test_the_last_of_two_decisions_about_one_paper_counts(one):
    assert say(one, None, "1+ 1-").labelled == 1
    assert stored(one) == [("1", "abstract", "exclude", None)]


def test_what_stands_keeps_its_time(one):
    say(one, None, "1+")
    one.now = lambda: NOON + timedelta(days=1)
    assert say(one, None, "1+").unchanged == 1
    assert one.screenings.labels(R)[0].at == NOON
    assert say(one, None, "2.").labelled == 0
    assert say(one, None, "1+another_reason").labelled == 1
    assert one.screenings.labels(R)[0].at == NOON + timedelta(days=1)


def test_only_what_replaces_a_decision_is_audited(one):
    say(one, None, "1+ 2+")
    assert one.audited == []
    say(one, None, "1. 2- 3+")
    assert one.audited == [("review.abstract", R, {"1": "include", "2": "include"}, {"1": "none", "2": "exclude"})]


def test_papers_outside_of_the_review_and_of_the_stage_are_distinguished(one):
    say(one, None, "1+ 2-")
    changes = say(one, None, "1+ 2+ 3+ 9+", "full_text")
    assert (changes.labelled, changes.unknown, changes.not_at_stage) == (1, ("9",), ("2", "3"))
    assert ("1", "full_text", "include", None) in stored(one)


def test_a_record_is_settled_once_two_have_decided_it_alike_and_conflicts_are_listed(two):
    say(two, "ann", "1+ 2+ 3- 4? 5?")
    say(two, "bob", "1+ 2- 3- 4? 6+")
    review = state(two)
    assert review.settled("abstract") == {"1": True, "3": False}
    assert review.conflicts("abstract") == ["2", "4"]  # nobody is sure about 4
    states = [review.outcome("abstract", str(each)).state for each in range(1, 7)]
    assert states == ["include", "conflict", "exclude", "conflict", "awaiting", "awaiting"]
    assert review.eligible("full_text") == ["1"]


def test_nobody_sees_what_the_other_decided_before_both_have(two):
    say(two, "ann", "1+ 2+ 3-")
    say(two, "bob", "2-")
    review = state(two)
    assert [each.decision for each in review.outcome("abstract", "1").shown_to("ann")] == ["include"]
    assert review.outcome("abstract", "1").shown_to("bob") == ()
    assert [each.caller for each in review.outcome("abstract", "2").shown_to("bob")] == ["ann", "bob"]
    assert {name: each.decision for name, each in review.decisions("abstract", "bob").items()} == {"2": "exclude"}
    assert review.left_for("abstract", "bob") == ["1", "3", "4", "5", "6"]
    assert review.left_for("abstract", "ann") == ["4", "5", "6"]


def test_no_full_text_is_shown_whose_place_there_tells_what_another_decided(two):
    say(two, "ann", "1+ 2+")
    assert state(two).left_for("full_text", "ann") == ["1", "2"]
    assert state(two).left_for("full_text", "bob") == []
    assert say(two, "bob", "1+", "full_text").not_at_stage == ("1",)
    assert state(two).stopping("full_text", "bob").missed_at_most == 0
    say(two, "bob", "1+")
    assert state(two).left_for("full_text", "bob") == ["1"]


def test_a_third_person_is_shown_what_two_have_not_decided(two):
    say(two, "ann", "1+ 2+ 3-")
    say(two, "bob", "1- 2+")
    assert state(two).left_for("abstract", "cem") == ["3", "4", "5", "6"]


def test_of_three_no_conflict_is_shown_before_the_third_has_decided():
    three = backends_of(3)
    say(three, "ann", "1+")
    say(three, "bob", "1-")
    assert state(three).conflicts("abstract") == []
    shown = state(three).shown("1", "abstract", "cem")
    assert (shown["state"], shown["decisions"], shown["reason"]) == ("undecided", [], None)
    assert say(three, "dee", "1+", resolves=True).not_at_stage == ("1",)
    say(three, "cem", "1+")
    assert state(three).conflicts("abstract") == ["1"]
    assert len(state(three).shown("1", "abstract", "cem")["decisions"]) == 3


def test_until_a_second_begins_the_decisions_of_the_first_count(two):
    say(two, "ann", "1+ 2- 3?")
    assert state(two).settled("abstract") == {"1": True, "2": False}
    assert state(two).conflicts("abstract") == []
    one = state(two).outcome("abstract", "1")
    assert (one.shown_to("bob"), one.state_for("bob"), one.state_for("ann")) == ((), "undecided", "include")
    say(two, "bob", "1+")
    assert state(two).settled("abstract") == {"1": True}


def test_a_third_decision_settles_a_conflict_and_can_be_taken_back(two):
    say(two, "ann", "1+ 2+")
    say(two, "bob", "1- 2+")
    changes = say(two, "cem", "1- 2- 3-", resolves=True)
    assert (changes.labelled, changes.not_at_stage, changes.unknown) == (1, ("2", "3"), ())
    review = state(two)
    assert (review.settled("abstract"), review.conflicts("abstract")) == ({"1": False, "2": True}, [])
    assert [each.decision for each in review.outcome("abstract", "1").labels] == ["include", "exclude"]  # both stay
    assert say(two, "cem", "1-", resolves=True).unchanged == 1
    say(two, "cem", "1.", resolves=True)
    assert state(two).conflicts("abstract") == ["1"]
    assert [action for action, *_ in two.audited] == ["review.abstract.resolved"]


def test_an_undo_takes_back_ones_own_decision_alone(two):
    say(two, "ann", "1+ 2+")
    say(two, "bob", "1+ 2+")
    say(two, "bob", "1.")
    review = state(two)
    assert review.outcome("abstract", "1").state == "awaiting"
    assert [each.caller for each in review.outcome("abstract", "1").labels] == ["ann"]
    assert two.audited == [("review.abstract", R, {"1": "include"}, {"1": "none"})]


def test_reasons_that_differ_are_a_conflict_of_full_texts_since_each_is_counted_by_one(two):
    for who in ("ann", "bob"):
        say(two, who, "1+ 2+")
    say(two, "ann", "1-no_control 2-no_control", "full_text")
    say(two, "bob", "1-not_adults 2-no_control", "full_text")
    assert state(two).conflicts("full_text") == ["1"]
    assert state(two).outcome("full_text", "2").stands.reason == "no_control"


def test_agreement_is_of_what_both_decided_and_no_third_decision_changes_it(two):
    say(two, "ann", "1+ 2+ 3- 4- 5-")
    say(two, "bob", "1+ 2- 3- 4-")
    say(two, "cem", "2+", resolves=True)
    [(one, other, found)] = state(two).agreements("abstract")
    assert (one, other, found.records, found.agreed) == ("ann", "bob", 4, 3)
    assert found.kappa == pytest.approx(0.5)  # (3/4 - 1/2) / (1 - 1/2)
    status = state(two).status("abstract")
    assert status["people"] == [{"by": "ann", "decided": 5}, {"by": "bob", "decided": 4}]
    counted = {"records": 6, "include": 2, "exclude": 2, "awaiting": 1, "undecided": 1, "maybe": 0, "conflict": 0}
    assert counted.items() <= status.items()


def test_where_one_screens_the_last_decision_counts_whoever_made_it(one):
    say(one, "agent", "1+ 2+")
    say(one, "ann", "1- 2.")
    review = state(one)
    assert (review.settled("abstract"), review.conflicts("abstract")) == ({"1": False}, [])
    assert review.left_for("abstract", "bob") == ["2", "3", "4", "5", "6"]
    [(_, _, found)] = review.agreements("abstract")
    assert (found.records, found.agreed) == (1, 0)
