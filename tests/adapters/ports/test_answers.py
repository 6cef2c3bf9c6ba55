from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from bio_mcp.errors import NotFound
from bio_mcp.literature.records import CitedSpan
from bio_mcp.ports.stores import StoredAnswer

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def span(pmid, version=1, quote="Thiazides lower α₁ blood pressure."):
    return CitedSpan(pmid, version, "abstract", 4, 4 + len(quote), quote)


def answer(answer_id, *pmids, asked=NOON, text="A text [1]."):
    spans = tuple(span(each) for each in pmids)
    return StoredAnswer(
        answer_id,
        "What lowers it?",
        text,
        spans,
        0.875,
        asked,
        reason="" if text else "nothing",
        warnings=("Read it.",),
    )


def test_an_answer_comes_back_equal(answers):
    given = replace(answer("a", "9", "10"), spans=(span("9", 3), replace(span("10"), field="title"), span("9", 3)))
    answers.put(given)
    assert answers.get("a") == given


def test_an_answer_that_was_withheld_is_stored_too_and_a_moment_of_another_zone_is_the_same(answers):
    answers.put(answer("a", text="", asked=NOON.astimezone(timezone(timedelta(hours=7)))))
    assert answers.get("a") == answer("a", text="")


def test_an_unknown_answer_is_not_found_and_the_message_says_how_long_they_are_stored(answers):
    with pytest.raises(NotFound, match=r"'a'.*two years"):
        answers.get("a")


def test_an_answer_that_is_stored_again_keeps_its_first_time_and_its_flags(answers):
    answers.put(answer("a", "9"))
    answers.flag("9")
    answers.put(answer("a", "9", asked=NOON + timedelta(days=1)))
    assert answers.get("a") == replace(answer("a", "9"), flagged=("9",))


def test_the_answers_that_cite_a_paper_are_found_by_it_in_the_order_of_their_ids(answers):
    for each in (answer("b", "9", "10"), answer("a", "9"), answer("c", "99")):
        answers.put(each)
    assert [each.answer_id for each in answers.citing("9")] == ["a", "b"]
    assert answers.citing("1") == []


def test_a_flag_names_the_paper_and_is_of_the_answers_that_cite_it_alone(answers):
    for each in (answer("a", "9", "10", "100"), answer("b", "10"), answer("c", "9")):
        answers.put(each)
    for pmid in ("100", "9", "9", "1"):
        answers.flag(pmid)
    assert {each: answers.get(each).flagged for each in "abc"} == {"a": ("9", "100"), "b": (), "c": ("9",)}
    assert {each.answer_id: each.flagged for each in answers.citing("10")} == {"a": ("9", "100"), "b": ()}
    assert [each.answer_id for each in answers.flagged(10)] == ["c", "a"]


def test_flagged_answers_come_newest_first_whatever_the_clocks_said_each_once_and_no_more_than_asked_for(answers):
    for day in (2, 2_000, 1, 3):
        answers.put(answer(f"a{day}", "9", "10", asked=NOON + timedelta(days=day)))
    answers.put(answer("clear", "99", asked=NOON + timedelta(days=4)))
    for pmid in ("9", "10"):
        answers.flag(pmid)
    answers.put(answer("a2", "9", "10"))
    assert [each.answer_id for each in answers.flagged(10)] == ["a3", "a1", "a2000", "a2"]
    assert [each.answer_id for each in answers.flagged(2)] == ["a3", "a1"]
