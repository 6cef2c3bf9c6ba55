"""The log of calls on a laptop: how long, and how much."""

import stat
from datetime import UTC, datetime

import pytest

from bio_mcp.adapters.embedded.calls import FILE, SqliteCalls
from bio_mcp.errors import NotFound, StoreFailed
from bio_mcp.ports.calls import CallRecord
from tests.adapters.clocks import Clock

MB = 1 << 20


def call(number, read=b""):
    at = datetime.fromtimestamp(number, UTC)
    return CallRecord(f"id{number}", "rag.search", {}, "in", "out", "ok", at, {}, read)


def test_a_call_is_deleted_after_its_days(tmp_path, closed):
    clock = Clock()
    calls = closed(SqliteCalls(tmp_path, 7, MB, clock))
    calls.record(call(1))
    clock.sleep(7 * 86_400 - 1)
    assert calls.get("id1") == call(1)
    clock.sleep(2)
    with pytest.raises(NotFound, match="7 days"):
        calls.get("id1")
    assert calls.latest(5) == []


def test_the_file_does_not_grow_beyond_its_size_and_the_oldest_go_first(tmp_path, closed):
    calls = closed(SqliteCalls(tmp_path, 7, MB))
    for number in range(200):
        calls.record(call(number, bytes(20_000)))
    calls.close()
    assert (tmp_path / FILE).stat().st_size < 1.3 * MB
    assert calls.latest(1)[0].correlation_id == "id199"
    with pytest.raises(NotFound):
        calls.get("id0")


def test_a_call_that_would_take_much_of_the_file_is_not_stored(tmp_path, closed):
    calls = closed(SqliteCalls(tmp_path, 7, MB))
    calls.record(call(1, bytes(MB // 4)))
    assert calls.latest(1) == []


def test_the_file_is_for_this_user_alone(tmp_path, closed):
    calls = closed(SqliteCalls(tmp_path / "home", 7, MB))
    calls.record(call(1))
    assert stat.S_IMODE((tmp_path / "home" / FILE).stat().st_mode) == 0o600


def test_a_damaged_file_is_begun_again(tmp_path, closed):
    (tmp_path / FILE).write_bytes(b"no database" * 100)
    calls = closed(SqliteCalls(tmp_path, 7, MB))
    with pytest.raises(StoreFailed, match="log of calls"):
        calls.record(call(1))
    calls.record(call(1))
    assert calls.get("id1") == call(1)
