"""A review as it stands: what is decided, what is left, and what each stage is about."""

from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.ports.stores import ReviewRecord, ScreeningLabel
from bio_mcp.screening.reviews import Review, review_of
from tests.support.reference_screenings import ReferenceScreenings

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def review(*labels, records=6):
    made = [
        ScreeningLabel(record_id, stage, decision, NOON + timedelta(minutes=at))
        for at, (record_id, decision, stage) in enumerate(labels)
    ]
    return Review("query:x", [ReviewRecord(str(number), f"Title {number}") for number in range(1, records + 1)], made)


def abstracts(text):
    """ "1+ 2- 3?" as decisions about abstracts."""
    decisions = {"+": "include", "-": "exclude", "?": "maybe"}
    return [(each[:-1], decisions[each[-1]], "abstract") for each in text.split()]


def test_a_review_is_read_from_its_store():
    screenings = ReferenceScreenings()
    screenings.put("query:x", [ReviewRecord("2", "Two"), ReviewRecord("1", "One")])
    screenings.put("query:x", [ScreeningLabel("2", "abstract", "include", NOON)])
    found = review_of("query:x", screenings)
    assert [each.record_id for each in found.records] == ["1", "2"]
    assert found.settled("abstract") == {"2": True}


def test_decisions_are_of_one_stage_in_the_order_in_which_they_were_made():
    found = review(*abstracts("3+ 1- 2?"), ("3", "exclude", "full_text"))
    assert list(found.decisions("abstract")) == ["3", "1", "2"]
    assert list(found.decisions("full_text")) == ["3"]
    assert found.of("abstract", "include") == ["3"]
    assert found.of("full_text", "include") == []
    assert found.settled("abstract") == {"3": True, "1": False}  # what may be included is not


def test_a_label_of_a_record_that_the_review_lacks_counts_nowhere():
    found = review(*abstracts("3+ 99+ 98-"))
    assert found.settled("abstract") == {"3": True}
    assert found.of("abstract", "include") == ["3"]


def test_the_full_text_is_about_what_its_abstract_included():
    found = review(*abstracts("3+ 1- 2? 5+"))
    assert [each.record_id for each in found.eligible("full_text")] == ["3", "5"]
    assert len(found.eligible("abstract")) == 6


@pytest.mark.parametrize(
    ("decided", "recall", "missed"), [("", None, 6), ("1+ 2- 3- 4- 5- 6-", 1.0, 0), ("1- 2- 3- 4- 5- 6-", None, 0)]
)
def test_the_estimate_is_of_the_abstracts_that_are_left(decided, recall, missed):
    found = review(*abstracts(decided)).stopping("abstract")
    assert (found.recall_at_least, found.missed_at_most) == (recall, missed)


def test_the_estimate_of_full_texts_leaves_out_what_no_abstract_included():
    labels = [*abstracts("1+ 2+ 3- 4- 5- 6-"), ("1", "include", "full_text"), ("2", "exclude", "full_text")]
    found = review(*labels).stopping("full_text")
    assert (found.recall_at_least, found.missed_at_most, found.reached) == (1.0, 0, True)


def test_the_order_of_decisions_counts_and_not_that_of_the_papers():
    early = review(*abstracts("6+ 1- 2- 3- 4- 5-"), records=20).stopping("abstract")
    late = review(*abstracts("1- 2- 3- 4- 5- 6+"), records=20).stopping("abstract")
    assert early.p_value < late.p_value
    assert early.missed_at_most <= late.missed_at_most
