"""What is deleted of files and answers, and when."""

from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.adapters.embedded.blobs import DirectoryBlobs
from bio_mcp.adapters.embedded.database import WITNESSES, Database
from bio_mcp.adapters.embedded.projects import LIFETIME, SqliteAnswers
from bio_mcp.errors import NotFound
from bio_mcp.literature.records import CitedSpan
from bio_mcp.ports.stores import EXPIRING_DAYS, StoredAnswer
from tests.adapters.clocks import Clock

DAY = 86_400.0


@pytest.fixture
def clock():
    return Clock(1_000_000_000.0)


@pytest.fixture
def blobs(tmp_path, clock):
    return DirectoryBlobs(tmp_path / "blobs", clock)


def export(blobs, count, first=0):
    """So many exports, one after the other; the last of them."""
    return [blobs.join([blobs.put("exports", b"%d" % (first + number))]) for number in range(count)][-1]


def test_an_export_is_deleted_once_its_days_are_over_by_all_that_were_made_since_and_no_other_file_is(blobs, clock):
    old, report = blobs.put("exports/0123abc", b"old"), blobs.put("evaluations", b"old")
    clock.now += EXPIRING_DAYS["exports"] * DAY - 1
    assert blobs.link(old, "papers.ris", 60) is None  # nobody else reaches this disk
    new = export(blobs, WITNESSES)
    assert blobs.exists(old)
    clock.now += 2
    export(blobs, WITNESSES, 100)
    assert (blobs.exists(old), blobs.exists(new), blobs.exists(report)) == (False, True, True)
    with pytest.raises(NotFound):
        blobs.get(old)


def test_an_export_under_a_clock_that_is_ahead_deletes_no_other_one(blobs, clock):
    old = export(blobs, 1)
    clock.now += 4 * 365 * DAY
    ahead = export(blobs, 3, 100)
    clock.now -= 4 * 365 * DAY
    export(blobs, WITNESSES, 200)
    assert blobs.exists(old)
    assert blobs.exists(ahead)


def test_a_file_that_is_put_again_has_its_days_again(blobs, clock):
    key = blobs.put("exports", b"same")
    clock.now += EXPIRING_DAYS["exports"] * DAY - 1
    blobs.put("exports", b"same")
    clock.now += 2
    export(blobs, WITNESSES)
    assert blobs.exists(key)


NOW = datetime(2026, 5, 1, tzinfo=UTC)


def answer(answer_id, asked):
    return StoredAnswer(answer_id, "Why?", "So.", (CitedSpan("9", 1, "title", 0, 3, "So."),), 0.9, asked)


def test_new_answers_remove_those_that_are_two_years_older_and_no_others(tmp_path, closed):
    answers = SqliteAnswers(closed(Database(tmp_path)))
    answers.put(answer("old", NOW - LIFETIME - timedelta(seconds=1)))
    answers.put(answer("in time", NOW - LIFETIME))
    for number in range(WITNESSES):
        assert answers.get("old")
        answers.put(answer(f"new {number}", NOW))
    with pytest.raises(NotFound):
        answers.get("old")
    assert answers.get("in time")


def test_answers_under_a_clock_that_was_ahead_remove_none(tmp_path, closed):
    answers = SqliteAnswers(closed(Database(tmp_path)))
    answers.put(answer("first", NOW))
    for number in range(WITNESSES // 2):
        answers.put(answer(f"ahead {number}", NOW + 3 * LIFETIME))
        answers.put(answer(f"right {number}", NOW + timedelta(days=1)))
    assert answers.get("first")
