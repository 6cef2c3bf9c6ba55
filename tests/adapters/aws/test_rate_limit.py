"""One budget for all processes of a fleet, beyond what `tests/adapters/test_rate_limit.py` asks of every pacer."""

import threading

import pytest

from bio_mcp.adapters.rate_limit import budget_of, fleet_gap_s
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded
from tests.adapters.aws.pacing import most_in_a_second, starts_of
from tests.adapters.clocks import Clock
from tests.support.aws_ports import AwsPorts

THEN = 1_800_000_000.0


@pytest.fixture
def clock():
    return Clock(THEN)


@pytest.fixture
def pacer_of(ports, clock):
    """Pacers of as many processes as one likes, over one table and clock."""
    return lambda sleep=clock.sleep: ports.pacer("keyless", 1.0, clock, sleep)


def test_a_process_that_wakes_up_late_takes_another_turn(pacer_of, clock):
    lateness = iter([0.5, 0, 0])
    pacer_of().wait(NEVER)
    late = pacer_of(sleep=lambda seconds: clock.sleep(seconds + next(lateness)))
    late.wait(NEVER)
    assert clock.now - THEN == pytest.approx(2, abs=1e-4)


def test_a_cool_down_moves_those_who_wait_and_keeps_their_order(pacer_of, clock):
    """While one process sleeps until its turn, another one is told to slow down, and a third one asks."""
    reported, third = pacer_of(), pacer_of()
    waited = []

    def sleep(seconds):
        if not waited:
            waited.append(seconds)
            reported.cool_down(5)
            third.wait(NEVER)
            thirds.append(clock.now - THEN)
        else:
            clock.sleep(seconds)

    thirds = []
    reported.wait(NEVER)
    sleeper = pacer_of(sleep=sleep)
    sleeper.wait(NEVER)
    assert waited == pytest.approx([1.0], abs=1e-4)  # its turn was a second later, and came after the cool-down
    assert thirds == pytest.approx([7.0], abs=1e-4)  # behind it: the turn that it kept was at 6


def test_a_sync_of_many_threads_stands_before_a_live_call_once(pacer_of, clock):
    """Seven threads of one process want turns all the time; another process that asks gets the turn after next."""
    starts = []
    live = pacer_of()
    holding = threading.Event()

    def sleep(seconds):
        if not starts:
            holding.set()
            live.wait(NEVER)  # asked for while one thread of the sync has a turn and six wait for theirs
            starts.append(clock.now - THEN)
            clock.now = THEN + seconds  # both slept at the same time
        else:
            clock.sleep(seconds)

    sync = pacer_of(sleep=sleep)
    sync.wait(NEVER)
    threads = [threading.Thread(target=sync.wait, args=(NEVER,)) for _ in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert starts == pytest.approx([2.0], abs=1e-4)


def test_a_share_with_many_processes_stands_before_another_once(pacer_of, clock):
    """Three processes of one caller want turns all the time; another caller that asks gets the turn after next."""
    turns = []

    def ask(share, *, first=None):
        """Have a turn for the share; while its process sleeps for the first time, `first` happens."""
        pending = [first] if first else []

        def sleep(seconds):
            began = clock.now
            if pending:
                pending.pop()()
            clock.now = began + seconds  # all slept at the same time

        pacer_of(sleep=sleep).wait(NEVER, share)
        turns.append((round(clock.now - THEN, 3), share))

    ask("ada")
    ask("ada", first=lambda: ask("ada", first=lambda: ask("bob")))
    assert sorted(turns) == [(0.0, "ada"), (1.0, "ada"), (2.0, "bob"), (3.0, "ada")]


def test_threads_that_cannot_have_a_turn_in_time_are_refused_at_once(pacer_of, clock):
    refused = []

    def sleep(seconds):
        with pytest.raises(DeadlineExceeded):
            sync.wait(Deadline(0.5, clock))
        refused.append(True)
        clock.sleep(seconds)

    sync = pacer_of(sleep=sleep)
    sync.wait(NEVER)
    sync.wait(NEVER)
    assert refused == [True]


def test_a_budget_does_not_tell_its_key():
    assert budget_of(None) == budget_of("") == "keyless"
    assert budget_of("secret") != budget_of("other")
    assert "secret" not in budget_of("secret")


@pytest.mark.parametrize(("keyed", "limit", "each"), [(True, 10, 3), (False, 3, 1)])
def test_eight_processes_never_start_more_than_the_limit_in_any_second(server, nobody, keyed, limit, each):
    table = AwsPorts(endpoint=server).pace_table
    starts = starts_of(server, table, "keyless", fleet_gap_s(keyed), processes=8, seconds=100, starts=each)
    assert [len(of_one) for of_one in starts] == [each] * 8
    assert most_in_a_second([start for of_one in starts for start in of_one]) <= limit
