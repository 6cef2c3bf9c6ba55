"""Writes of answers that were killed are healed by repetition, and what is stored expires."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.adapters.aws.answers import DynamoAnswers
from bio_mcp.literature.records import CitedSpan
from bio_mcp.ports.stores import StoredAnswer
from tests.adapters.aws.dying import Killed, killed_after

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def answer(answer_id, *pmids):
    spans = tuple(CitedSpan(each, 1, "title", 0, 1, "T") for each in pmids)
    return StoredAnswer(answer_id, "What?", "That [1].", spans, 0.5, NOON)


def dying(ports, after):
    client = killed_after(ports.dynamodb, after, "batch_write_item", "put_item", "update_item")
    return DynamoAnswers(client, ports.answers._table.name)


MANY = [str(pmid) for pmid in range(1, 31)]  # in two batches


@pytest.mark.parametrize("after", range(4))
def test_an_answer_whose_writing_was_killed_is_whole_after_the_next_and_never_hidden_from_a_retraction(ports, after):
    whole = answer("a", *MANY)
    with pytest.raises(Killed):
        dying(ports, after).put(whole)
    assert ports.answers.citing("30") == []
    ports.answers.put(whole)
    assert ports.answers.citing("1") == ports.answers.citing("30") == [whole]


@pytest.mark.parametrize("after", range(2))
def test_a_flag_whose_writing_was_killed_is_shown_nowhere_or_everywhere_and_healed_by_the_next(ports, after):
    ports.answers.put(answer("a", "9"))
    with pytest.raises(Killed):
        dying(ports, after).flag("9")
    assert ports.answers.flagged(10) == []
    ports.answers.flag("9")
    assert ports.answers.flagged(10) == [replace(answer("a", "9"), flagged=("9",))]


def test_an_answer_that_comes_with_its_flags_is_among_the_flagged(ports):
    flagged = replace(answer("a", "9", "10"), flagged=("10",))
    ports.answers.put(flagged)
    assert ports.answers.flagged(1) == [flagged]


def test_each_item_expires_two_years_after_the_answer_was_given(ports):
    ports.answers.put(answer("a", "9", "10"))
    ports.answers.flag("9")
    items = ports.dynamodb.scan(TableName=ports.answers._table.name)["Items"]
    items = [each for each in items if each["name"]["S"] != "sequence"]
    assert {each["name"]["S"] for each in items} == {"answer a", "paper 9", "paper 10", "flagged"}
    two_years = (NOON + timedelta(days=730)).timestamp()
    assert {int(each["expires_at"]["N"]) for each in items} == {two_years}
