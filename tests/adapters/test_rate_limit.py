"""The pace of requests to NCBI: what threads, processes of a machine and those of a fleet are promised alike."""

import itertools
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.adapters.embedded.rate_limit import SqliteRateLimiter
from bio_mcp.adapters.rate_limit import GAP_S, GAP_WITH_KEY_S, LocalRateLimiter, gap_s
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, NcbiRateLimited
from tests.adapters.aws.pacing import most_in_a_second
from tests.adapters.clocks import Clock, SharedClock
from tests.support.aws_ports import MotoPorts

THEN = 1_800_000_000.0


@pytest.fixture
def clock():
    return Clock(THEN)


@pytest.fixture(params=["threads", "processes", "fleet"])
def pacer_of(request, clock, tmp_path, nobody, closed):
    """Pacers of as many as one likes over one clock, a second apart; those of threads are the same one."""
    locals_ = {}

    def local(budget):
        return locals_.setdefault(budget, LocalRateLimiter(1.0, clock, clock.sleep))

    def of_process(budget):
        own = LocalRateLimiter(1.0, clock, clock.sleep)
        return closed(SqliteRateLimiter(tmp_path, budget, 1.0, own, clock, clock.sleep))

    if request.param == "fleet":
        ports = closed(MotoPorts())
        return lambda budget="keyless": ports.pacer(budget, 1.0, clock, clock.sleep)
    make = local if request.param == "threads" else of_process
    return lambda budget="keyless": make(budget)


def since(clock):
    return pytest.approx(clock.now - THEN, abs=1e-4)


def test_all_start_one_after_the_other_and_a_key_has_a_budget_of_its_own(pacer_of, clock):
    one, other = pacer_of(), pacer_of()
    for second, pacer in enumerate((one, other, other, one)):
        pacer.wait(NEVER)
        assert since(clock) == second
    pacer_of("another").wait(NEVER)
    assert since(clock) == 3


def test_an_idle_budget_lets_the_next_request_go_at_once(pacer_of, clock):
    pacer_of().wait(NEVER)
    clock.now += 10
    pacer_of().wait(NEVER)
    assert clock.pauses == []


def test_a_turn_beyond_the_deadline_is_refused_at_once_and_used_up_by_nobody(pacer_of, clock):
    pacer_of().wait(NEVER)
    with pytest.raises(DeadlineExceeded) as refused:
        pacer_of().wait(Deadline(0.5, clock))
    assert refused.value.retry_after_s == pytest.approx(1, abs=1e-4)
    assert clock.pauses == []
    pacer_of().wait(NEVER)
    assert since(clock) == 1


def test_nobody_starts_during_the_longest_of_cool_downs_that_were_told_at_once(pacer_of, clock):
    one, other = pacer_of(), pacer_of()
    for seconds in (2, 5, 5, 1):
        one.cool_down(seconds)
    for second in (5, 6):
        other.wait(NEVER)
        assert since(clock) == second


def test_a_cool_down_that_outlasts_the_deadline_is_reported_as_such(pacer_of, clock):
    pacer_of().cool_down(60)
    with pytest.raises(NcbiRateLimited) as refused:
        pacer_of().wait(Deadline(10, clock))
    assert refused.value.retry_after_s == pytest.approx(60, abs=0.01)
    assert clock.pauses == []


def starts_of(threads: int, each: int, gap: float, late: Callable[[], float] = lambda: 0.0) -> list[float]:
    """When the requests of several threads started; each wake-up comes `late()` seconds late."""
    clock = SharedClock(threads)
    pace = LocalRateLimiter(gap, clock, lambda seconds: clock.sleep(seconds + late()))
    starts: list[float] = []

    def work() -> None:
        for _ in range(each):
            pace.wait(NEVER)
            starts.append(clock())
        clock.leave()

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    assert len(starts) == threads * each
    return sorted(starts)


@pytest.mark.parametrize(("keyed", "limit"), [(False, 3), (True, 10)])
def test_eight_threads_never_start_more_than_the_limit_in_any_second(keyed, limit):
    starts = starts_of(8, 5, gap_s(keyed))
    assert most_in_a_second(starts) <= limit
    assert starts[-1] == pytest.approx((len(starts) - 1) * gap_s(keyed))  # and none is wasted


def test_late_wake_ups_do_not_bunch_the_starts():
    lateness = itertools.cycle([0.0, 0.0, 0.3, 0.0, 0.9])
    starts = starts_of(8, 5, GAP_S, late=lambda: next(lateness))
    assert most_in_a_second(starts) <= 3


def test_a_cool_down_holds_those_who_wait_already_and_keeps_their_order():
    clock = SharedClock(4)
    queued = [threading.Event() for _ in range(3)]
    mine = threading.local()

    def sleep(seconds: float) -> None:
        queued[mine.place].set()
        clock.sleep(seconds)

    pace = LocalRateLimiter(0.5, clock, sleep)
    turns: list[tuple[int, float]] = []

    def ask(place: int) -> None:
        mine.place = place
        if place:
            assert queued[place - 1].wait(timeout=60)
        pace.wait(NEVER)
        queued[place].set()
        turns.append((place, clock()))
        clock.leave()

    workers = [threading.Thread(target=ask, args=(place,)) for place in range(3)]
    for worker in workers:
        worker.start()
    assert queued[2].wait(timeout=60)
    pace.cool_down(3)
    clock.leave()
    for worker in workers:
        worker.join(timeout=60)
    assert turns == [(0, 0), (1, 3), (2, 3.5)]


def order_of(pace, clock, shares):
    """The shares of the turns in their order, where all ask while the first turn is taken, and each asks again at once
    as often as it is named."""
    first, started, turns = threading.Event(), [], []

    def work(share: str) -> None:
        pace.wait(NEVER, share)
        turns.append((clock(), share))
        clock.leave()

    workers = [threading.Thread(target=work, args=(share,)) for share in shares]
    for at, worker in enumerate(workers, start=1):
        worker.start()
        while len(turns) + pace.waiting < at:
            first.wait(0.001)
        started.append(worker)
    clock.leave()
    for worker in workers:
        worker.join(timeout=60)
    return [share for _, share in sorted(turns)]


def test_shares_take_turns_however_many_requests_each_has_waiting():
    clock = SharedClock(13)
    pace = LocalRateLimiter(0.5, clock, clock.sleep)
    order = order_of(pace, clock, ["ada"] * 8 + ["bob"] * 3 + ["eve"])
    assert "".join(name[0] for name in order) == "aabeababaaaa"


def test_a_share_that_gives_up_delays_no_other():
    clock = SharedClock(1)
    pace = LocalRateLimiter(0.5, clock, clock.sleep)
    pace.wait(NEVER, "ada")
    for _ in range(3):
        with pytest.raises(DeadlineExceeded):
            pace.wait(Deadline(0.4, clock), "ada")
    assert pace.waiting == 0
    pace.wait(NEVER, "bob")
    assert clock() == 0.5


@given(delay_ms=st.none() | st.integers(min_value=0, max_value=10_000), keyed=st.booleans())
def test_the_setting_widens_the_gap_and_never_narrows_it(delay_ms, keyed):
    gap = gap_s(keyed, delay_ms)
    assert gap >= (GAP_WITH_KEY_S if keyed else GAP_S)
    assert gap >= (delay_ms or 0) / 1000
