"""One budget for all: what each process is promised, by clocks that stand still until somebody sleeps."""

import threading

import pytest

from bio_mcp.adapters.rate_limit import budget_of, fleet_gap_s
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, NcbiRateLimited
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
    return lambda budget="keyless", gap=1.0, sleep=None: ports.pacer(budget, gap, clock, sleep or clock.sleep)


def since(clock):
    return pytest.approx(clock.now - THEN, abs=1e-4)


def test_starts_are_spread_evenly_over_processes(pacer_of, clock):
    one, other = pacer_of(), pacer_of()
    starts = []
    for pacer in (one, other, other, one):
        pacer.wait(NEVER)
        starts.append(clock.now - THEN)
    assert starts == pytest.approx([0, 1, 2, 3], abs=1e-4)


def test_an_idle_budget_lets_the_next_request_go_at_once(pacer_of, clock):
    pacer_of().wait(NEVER)
    clock.now += 10
    pacer_of().wait(NEVER)
    assert clock.pauses == []


def test_budgets_do_not_share(pacer_of, clock):
    pacer_of("keyless").wait(NEVER)
    pacer_of("another").wait(NEVER)
    assert clock.pauses == []


def test_a_turn_beyond_the_deadline_is_refused_at_once_and_used_up_by_nobody(pacer_of, clock):
    pacer_of().wait(NEVER)
    with pytest.raises(DeadlineExceeded) as refused:
        pacer_of().wait(Deadline(0.5, clock))
    assert refused.value.retry_after_s == 1.0
    assert clock.pauses == []
    pacer_of().wait(NEVER)
    assert since(clock) == 1


def test_a_process_that_wakes_up_late_takes_another_turn(pacer_of, clock):
    lateness = iter([0.5, 0, 0])
    pacer_of().wait(NEVER)
    late = pacer_of(sleep=lambda seconds: clock.sleep(seconds + next(lateness)))
    late.wait(NEVER)
    assert since(clock) == 2.0


def test_nobody_starts_during_a_cool_down(pacer_of, clock):
    one, other = pacer_of(), pacer_of()
    one.wait(NEVER)
    one.cool_down(5)
    other.wait(NEVER)
    assert since(clock) == 6  # the turn that was free at 1 has been moved as well
    one.wait(NEVER)
    assert since(clock) == 7


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


def test_cool_downs_that_several_are_told_at_once_do_not_add_up(pacer_of, clock):
    pacers = [pacer_of() for _ in range(4)]
    for pacer in pacers:
        pacer.cool_down(5)
    pacers[0].cool_down(2)
    pacers[0].wait(NEVER)
    assert since(clock) == 5


def test_a_longer_cool_down_extends_a_shorter_one(pacer_of, clock):
    pacer_of().wait(NEVER)
    pacer_of().cool_down(2)
    pacer_of().cool_down(5)
    pacer_of().wait(NEVER)
    assert since(clock) == 6  # by 5 seconds in all


def test_a_cool_down_that_outlasts_the_deadline_is_reported_as_such(pacer_of, clock):
    pacer_of().cool_down(60)
    with pytest.raises(NcbiRateLimited) as refused:
        pacer_of().wait(Deadline(10, clock))
    assert refused.value.retry_after_s == pytest.approx(60, abs=0.01)
    assert clock.pauses == []


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
