"""The log of calls."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.errors import NotFound
from bio_mcp.ports.state import CallRecord

YEAR = 365 * 86_400
AT = datetime.fromtimestamp(1_000_000, UTC)  # when the clock of these tests begins


def call(number, **fields):
    made = CallRecord(
        f"id{number}",
        "rag.search",
        {"query": "TNF-α ≤ 5", "top_k": 3, "filters": {"journals": ["a"]}},
        "in",
        "out",
        "ok",
        AT - timedelta(seconds=100 - number),
        {"code": "c", "model": "m"},
        b"\x00\xff" * number,
    )
    return replace(made, **fields)


def test_a_call_comes_back_equal(calls):
    calls.record(call(1))
    assert calls.get("id1") == call(1)


def test_the_same_call_twice_is_one_and_the_first_stays(calls):
    calls.record(call(1))
    calls.record(call(1, out_hash="other"))
    assert calls.get("id1").out_hash == "out"
    assert len(calls.latest(9)) == 1


@pytest.mark.parametrize("correlation_id", ["", "id", "id%", "ID1", "id1 ", "' OR 1=1 --", "x" * 5_000])
def test_what_was_not_recorded_is_not_found_and_it_says_how_long_calls_are_stored(calls, correlation_id):
    calls.record(call(1))
    with pytest.raises(NotFound, match="days"):
        calls.get(correlation_id)


def test_the_newest_come_first_without_what_they_read(calls):
    assert calls.latest(5) == []
    for number in (2, 1, 3):
        calls.record(call(number))
    calls.record(call(2))
    assert calls.latest(2) == [call(3, read=b""), call(1, read=b"")]
    assert [each.correlation_id for each in calls.latest(9)] == ["id3", "id1", "id2"]


def test_a_clock_that_was_ahead_or_falls_back_changes_nothing_in_their_order(calls, clock):
    for number, years in enumerate((0, 4, 0, -1)):
        clock.now += 1
        calls.record(call(number, at=datetime.fromtimestamp(clock.now + years * YEAR, UTC)))
    assert [each.correlation_id for each in calls.latest(9)] == ["id3", "id2", "id1", "id0"]


def test_a_call_says_how_long_it_took_and_when_whatever_the_zone(calls):
    elsewhere = AT.astimezone(datetime.strptime("+0700", "%z").tzinfo)
    calls.record(call(1, at=elsewhere, latency_ms=37))
    calls.record(call(2, at=AT + timedelta(seconds=1)))
    assert calls.get("id1").at == AT
    assert [each.latency_ms for each in calls.latest(9)] == [None, 37]
