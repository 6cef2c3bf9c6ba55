"""What the queue in the corpus file promises beyond its port: order, no doubles, and leases by a clock of one's own."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.sync_state import BACKOFF, MAX_UNANSWERED, SqliteContinuations, SqliteDeadLetters
from tests.adapters.clocks import Clock

EVENT = {"tool": "pubmed.sync_delta", "arguments": {"query": "β-cells", "resume": True}}
SAME = {"arguments": {"resume": True, "query": "β-cells"}, "tool": "pubmed.sync_delta"}
OTHER = {"tool": "pubmed.sync_delta", "arguments": {"query": "asthma"}}


def dead(database):
    """The calls that were given up, each with the reason of its last failure."""
    return [(json.loads(each.body), each.reason) for each in SqliteDeadLetters(database).all()]


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def database(tmp_path, closed):
    return closed(Database(tmp_path))


@pytest.fixture
def continuations(database, clock):
    return SqliteContinuations(database, clock, max_attempts=3)


def test_events_arrive_in_the_order_in_which_they_are_due(continuations, clock):
    continuations.send(EVENT, delay_s=20)
    continuations.send(OTHER, delay_s=10)
    assert continuations.receive(60) is None
    clock.now += 20
    assert [continuations.receive(60)[1], continuations.receive(60)[1]] == [OTHER, EVENT]


def test_an_equal_event_that_waits_is_not_doubled_nor_by_one_that_failed(continuations, clock):
    continuations.send(EVENT, delay_s=100)
    continuations.send(SAME)
    receipt, received = continuations.receive(60)
    assert received == EVENT
    assert continuations.receive(60) is None
    continuations.send(EVENT)
    continuations.fail(receipt, "reason")
    clock.now += 100
    assert continuations.receive(60) is not None
    assert continuations.receive(60) is None


@pytest.mark.parametrize("off_s", [4 * 365 * 86_400, -3_600])
@pytest.mark.parametrize("delay_s", [0, 20])
def test_a_clock_that_was_wrong_keeps_no_event_waiting(continuations, clock, off_s, delay_s):
    clock.now += 10**9 + off_s
    continuations.send(EVENT, delay_s=delay_s)
    continuations.send(OTHER, delay_s=2_000)
    clock.now -= off_s
    received = continuations.receive(60)
    assert (received is None) == (delay_s > 0 and off_s > 0)
    clock.now += 20
    receipt, event = received or continuations.receive(60)
    assert event == EVENT
    clock.now += off_s
    continuations.hold(receipt, 30)
    clock.now -= off_s
    clock.now += 2_000
    found = [continuations.receive(60) for _ in range(2)]
    clock.now += 30
    assert EVENT in [each[1] for each in [*found, continuations.receive(60)] if each]


def test_an_event_whose_receiver_fell_silent_comes_back(continuations, clock):
    continuations.send(EVENT)
    first, _ = continuations.receive(60)
    clock.now += 60
    second, event = continuations.receive(60)
    assert event == EVENT
    continuations.ack(first)  # too late to count
    clock.now += 60
    assert continuations.receive(60)[1] == EVENT
    continuations.fail(second, "too late as well")
    assert continuations.receive(60) is None


def test_a_call_that_may_work_later_is_tried_for_a_day_with_pauses_that_grow_to_a_quarter_of_an_hour(database, clock):
    continuations = SqliteContinuations(database, clock, backoff=replace(BACKOFF, rng=lambda: 0.5))
    continuations.send(EVENT)
    began, waits = clock.now, []
    while waits[-1:] != [None]:
        receipt, _ = continuations.receive(60)
        waits.append(continuations.fail(receipt, "NCBI is down"))
        clock.now += waits[-1] or 0
    assert waits[:4] == [2, 4, 8, 16]
    assert max(wait for wait in waits if wait) == 900
    assert clock.now - began > 24 * 3600
    assert dead(database) == [(EVENT, "NCBI is down")]


def test_a_call_that_cannot_work_later_is_buried_at_once_and_comes_back_when_it_is_sent_again(continuations, database):
    continuations.send(EVENT)
    receipt, _ = continuations.receive(60)
    assert continuations.fail(receipt, "refused", retryable=False) is None
    assert dead(database) == [(EVENT, "refused")]
    continuations.send(EVENT)
    assert dead(database) == []
    assert continuations.receive(60)[1] == EVENT


def test_what_a_process_that_has_ended_received_is_due_at_once(tmp_path, continuations):
    received = "from pathlib import Path; import sys; "
    received += "from bio_mcp.adapters.embedded.database import Database; "
    received += "from bio_mcp.adapters.embedded.sync_state import SqliteContinuations; "
    received += "print(SqliteContinuations(Database(Path(sys.argv[1]))).receive(600))"
    SqliteContinuations(Database(tmp_path)).send(EVENT)
    command = [sys.executable, "-c", received, str(tmp_path)]
    assert "sync_delta" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert SqliteContinuations(Database(tmp_path)).receive(60)[1] == EVENT


def test_an_event_that_kills_every_receiver_is_buried(database, clock):
    continuations = SqliteContinuations(database, clock)
    continuations.send(EVENT)
    for _ in range(MAX_UNANSWERED):
        assert continuations.receive(60) is not None
        clock.now += 61
    assert continuations.receive(60) is None
    assert [event for event, _ in dead(database)] == [EVENT]
