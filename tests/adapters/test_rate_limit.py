import itertools
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.adapters.rate_limit import GAP_S, GAP_WITH_KEY_S, LocalRateLimiter, gap_s
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, NcbiRateLimited
from tests.adapters.clocks import Clock, SharedClock


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


def most_in_a_second(starts: list[float]) -> int:
    return max(sum(first <= start < first + 1.0 for start in starts) for first in starts)


@pytest.mark.parametrize(("keyed", "limit"), [(False, 3), (True, 10)])
def test_eight_threads_never_start_more_than_the_limit_in_any_second(keyed, limit):
    starts = starts_of(8, 5, gap_s(keyed))
    assert most_in_a_second(starts) <= limit
    assert starts[-1] == pytest.approx((len(starts) - 1) * gap_s(keyed))  # and none is wasted


def test_late_wake_ups_do_not_bunch_the_starts():
    lateness = itertools.cycle([0.0, 0.0, 0.3, 0.0, 0.9])
    starts = starts_of(8, 5, GAP_S, late=lambda: next(lateness))
    assert most_in_a_second(starts) <= 3


def test_an_idle_pacer_lets_the_next_request_go_at_once():
    clock = Clock()
    pace = LocalRateLimiter(0.35, clock, clock.sleep)
    pace.wait(NEVER)
    clock.now += 10
    pace.wait(NEVER)
    assert clock.pauses == []


def test_a_turn_beyond_the_deadline_is_refused_at_once_and_used_up_by_nobody():
    clock = Clock()
    pace = LocalRateLimiter(1.0, clock, clock.sleep)
    pace.wait(NEVER)
    with pytest.raises(DeadlineExceeded) as refused:
        pace.wait(Deadline(0.5, clock))
    assert refused.value.retry_after_s == 1.0
    assert clock.now == 0
    assert pace.waiting == 0
    pace.wait(Deadline(1.5, clock))
    assert clock.now == 1.0


def test_a_cool_down_beyond_the_deadline_is_reported_as_the_rate_limit():
    clock = Clock()
    pace = LocalRateLimiter(0.1, clock, clock.sleep)
    pace.cool_down(30)
    with pytest.raises(NcbiRateLimited) as refused:
        pace.wait(Deadline(8, clock))
    assert refused.value.retry_after_s == 30
    assert clock.pauses == []


def test_a_cool_down_pushes_all_starts():
    clock = Clock()
    pace = LocalRateLimiter(0.1, clock, clock.sleep)
    pace.wait(NEVER)
    pace.cool_down(2)
    pace.cool_down(1)  # a shorter one does not shorten it
    pace.wait(NEVER)
    assert clock.now == 2


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
    pace.wait(NEVER, "bob")
    assert clock() == 0.5


@given(delay_ms=st.none() | st.integers(min_value=0, max_value=10_000), keyed=st.booleans())
def test_the_setting_widens_the_gap_and_never_narrows_it(delay_ms, keyed):
    gap = gap_s(keyed, delay_ms)
    assert gap >= (GAP_WITH_KEY_S if keyed else GAP_S)
    assert gap >= (delay_ms or 0) / 1000
