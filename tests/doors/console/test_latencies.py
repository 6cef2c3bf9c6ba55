from datetime import UTC, datetime, timedelta

from bio_mcp.doors.console.latencies import BOUNDS, latencies
from bio_mcp.ports.calls import CallRecord

AT = datetime(2026, 5, 1, tzinfo=UTC)


def call(number, tool, taken):
    return CallRecord(f"c{number}", tool, {}, "i", "o", "ok", AT + timedelta(minutes=number), latency_ms=taken)


def test_half_and_most_of_the_calls_of_a_tool_were_answered_within_these_times():
    found = latencies(call(number, "rag.search", number) for number in range(1, 101))
    [tool] = found.tools
    assert (tool.calls, tool.half_ms, tool.most_ms, tool.all_ms) == (100, 50, 95, 100)
    assert found.since == (AT + timedelta(minutes=1)).isoformat()


def test_one_call_is_half_and_all_of_its_tool():
    [tool] = latencies([call(1, "rag.get", 7)]).tools
    assert (tool.half_ms, tool.most_ms, tool.all_ms) == (7, 7, 7)


def test_each_call_counts_to_the_least_bound_that_it_does_not_exceed():
    found = latencies(call(number, "t", taken) for number, taken in enumerate((0, 1, 2, 3, 5_000, 5_001)))
    assert found.counts == [2, 1, 1, *([0] * (len(BOUNDS) - 4)), 1, 1]


def test_calls_that_an_older_version_recorded_count_for_nothing():
    found = latencies([call(1, "t", None)])
    assert (found.calls, found.since, found.tools) == (0, None, [])
