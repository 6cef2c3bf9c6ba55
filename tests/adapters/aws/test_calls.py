"""The log of calls: what is large is a file, what is old is gone, and the newest are found by their numbers."""

from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.adapters.aws.accounts import NAMED_TOGETHER, DynamoCalls
from bio_mcp.adapters.aws.table import item_key
from bio_mcp.errors import NotFound
from bio_mcp.ports.state import CallRecord
from tests.adapters.aws.dying import Killed, killed_after
from tests.adapters.aws.test_large_values import stored
from tests.support.aws_ports import MotoPorts
from tests.support.aws_tables import BUCKET, properties

NOON = datetime(2026, 5, 31, 12, tzinfo=UTC)


@pytest.fixture
def ports(nobody, closed):
    return closed(MotoPorts(lambda: NOON.timestamp()))


def call(number, at=NOON, read=b""):
    return CallRecord(f"id {number}", "rag.search", {"query": "statins"}, "in", "out", "ok", at, {"corpus": "7"}, read)


def test_what_a_call_read_is_a_file_where_it_is_large_and_comes_back_equal(ports):
    few, many = call(1, read=b"x" * 8_000), call(2, read=b"x" * 10_000)
    for each in (few, many):
        ports.calls.record(each)
    assert [ports.calls.get(each.correlation_id) for each in (few, many)] == [few, many]
    [key] = stored(ports)
    assert key.startswith("calls/")


def test_calls_that_an_earlier_version_named_by_their_days_come_after_those_that_are_numbered(ports):
    for days in (29, 1, 0):
        each = call(days, NOON - timedelta(days=days), read=b"read")
        ports.calls.record(each)
        if days:
            number = {0: 3, 1: 2, 29: 1}[days]
            ports.calls._table.delete_item(item_key("calls 0", f"{number:012}"))
            named = {"correlation_id": each.correlation_id, "expires_at": NOON.timestamp()}
            ports.calls._table.put_item({**item_key(f"day {each.at:%Y-%m-%d}", f"{each.at} key"), **named})
    assert [each.correlation_id for each in ports.calls.latest(10)] == ["id 0", "id 1", "id 29"]
    assert [each.correlation_id for each in ports.calls.latest(2)] == ["id 0", "id 1"]
    assert {each.read for each in ports.calls.latest(10)} == {b""}


def test_the_newest_are_found_over_partitions(ports):
    ports.calls._table.put_item({**item_key("sequence", "sequence"), "number": NAMED_TOGETHER - 3})
    for number in range(5):
        ports.calls.record(call(number))
    assert [each.correlation_id for each in ports.calls.latest(10)] == [f"id {number}" for number in (4, 3, 2, 1, 0)]


def test_what_is_stored_expires_after_the_days_that_the_failure_names_and_its_files_a_day_later(ports):
    ports.calls.record(call(1))
    items = ports.dynamodb.scan(TableName=ports.calls._table.name)["Items"]
    ends = (NOON + timedelta(days=30)).timestamp()
    assert [int(each["expires_at"]["N"]) for each in items if each["name"]["S"] != "sequence"] == [ends, ends]
    ports.calls._clock = lambda: ends - 1
    assert ports.calls.get("id 1") == call(1)
    ports.calls._clock = lambda: ends
    with pytest.raises(NotFound, match="30 days"):
        ports.calls.get("id 1")
    [bucket] = properties(BUCKET).values()
    [rule] = [each for each in bucket["LifecycleConfiguration"]["Rules"] if each.get("Prefix") == "calls/"]
    assert rule["ExpirationInDays"] == 31


def test_a_call_that_was_killed_while_it_was_recorded_can_be_replayed_or_is_recorded_by_the_next(ports):
    for after in range(2):
        client = killed_after(ports.dynamodb, after, "put_item")
        with pytest.raises(Killed):
            DynamoCalls(client, ports.calls._table.name, lambda: ports.blobs, 30, clock=ports.clock).record(call(after))
    with pytest.raises(NotFound):
        ports.calls.get("id 0")
    assert ports.calls.get("id 1") == call(1)


def test_a_correlation_id_of_a_client_that_is_longer_than_a_key_is_recorded_all_the_same(ports):
    long = call("x" * 5_000)
    ports.calls.record(long)
    assert ports.calls.get(long.correlation_id) == long
    assert ports.calls.latest(1) == [long]
