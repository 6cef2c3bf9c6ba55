"""Decisions are stored in their order, once, and what replaces another is audited."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from bio_mcp.ports.stores import ReviewRecord
from bio_mcp.screening.reviews import Decided, decide, review_of
from tests.support.reference_screenings import ReferenceScreenings

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
R = "project:lab"


@pytest.fixture
def backends():
    made = SimpleNamespace(screenings=ReferenceScreenings(), now=lambda: NOON, audited=[])
    made.audit = SimpleNamespace(record=lambda *record: made.audited.append(record))
    made.screenings.put(R, [ReviewRecord(str(number), "Title") for number in range(1, 6)])
    return made


def say(backends, *decisions, stage="abstract", caller=None):
    made = [Decided(*each) for each in decisions]
    return decide(review_of(R, backends.screenings), stage, made, caller, backends)


def stored(backends):
    return [(each.record_id, each.stage, each.decision, each.reason) for each in backends.screenings.labels(R)]


def test_decisions_of_a_call_have_its_order_though_they_are_of_one_moment(backends):
    say(backends, ("5", "include"), ("1", "exclude", "no adults"), ("3", "maybe"), caller="ann")
    assert [each[0] for each in stored(backends)] == ["5", "1", "3"]
    assert {(each.at, each.caller) for each in backends.screenings.labels(R)} == {(NOON, "ann")}


def test_the_last_of_two_decisions_about_one_paper_counts(backends):
    changes = say(backends, ("1", "include"), ("1", "exclude"))
    assert (changes.labelled, stored(backends)) == (1, [("1", "abstract", "exclude", None)])


def test_what_stands_keeps_its_time(backends):
    say(backends, ("1", "include"))
    backends.now = lambda: NOON + timedelta(days=1)
    assert say(backends, ("1", "include")).unchanged == 1
    assert backends.screenings.labels(R)[0].at == NOON
    assert say(backends, ("2", "none")).labelled == 0
    assert say(backends, ("1", "include", "another reason")).labelled == 1
    assert backends.screenings.labels(R)[0].at == NOON + timedelta(days=1)


def test_only_what_replaces_a_decision_is_audited(backends):
    say(backends, ("1", "include"), ("2", "include"))
    assert backends.audited == []
    say(backends, ("1", "none"), ("2", "exclude"), ("3", "include"))
    before, after = {"1": "include", "2": "include"}, {"1": "none", "2": "exclude"}
    assert backends.audited == [("review.abstract", R, before, after)]


def test_papers_outside_of_the_review_and_of_the_stage_are_distinguished(backends):
    say(backends, ("1", "include"), ("2", "exclude"))
    changes = say(backends, ("1", "include"), ("2", "include"), ("3", "include"), ("9", "include"), stage="full_text")
    assert (changes.labelled, changes.unknown, changes.not_at_stage) == (1, ("9",), ("2", "3"))
    assert ("1", "full_text", "include", None) in stored(backends)
