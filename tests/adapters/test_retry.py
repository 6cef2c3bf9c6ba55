import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import (
    DeadlineExceeded,
    Failure,
    InvalidInput,
    NcbiFailed,
    NcbiQueryRejected,
    NcbiRateLimited,
    NcbiUnreadable,
)
from bio_mcp.scope import bounded_by
from tests.adapters.clocks import Clock

WORTH = {NcbiFailed: 99, NcbiUnreadable: 2, NcbiQueryRejected: 1}


class Attempts:
    """Raises the failures in turn, then succeeds."""

    def __init__(self, *failures: Failure) -> None:
        self.failures = list(failures)
        self.tried = 0

    def __call__(self) -> str:
        self.tried += 1
        if self.failures:
            raise self.failures.pop(0)
        return "done"


def steady(clock: Clock, **settings) -> Backoff:
    return Backoff(rng=lambda: 0.5, sleep=clock.sleep, **settings)


def test_a_success_after_failures_is_the_result_and_pauses_double_up_to_the_cap():
    clock = Clock()
    attempts = Attempts(*[NcbiFailed("down")] * 8)
    assert retry(attempts, worth=WORTH, deadline=NEVER, backoff=steady(clock, tries=9)) == "done"
    assert clock.pauses == [1, 2, 4, 8, 16, 30, 30, 30]


def test_the_sixth_failure_is_raised_and_says_so():
    clock = Clock()
    attempts = Attempts(*[NcbiFailed("down")] * 9)
    with pytest.raises(NcbiFailed, match="down") as failed:
        retry(attempts, worth=WORTH, deadline=NEVER, backoff=steady(clock))
    assert attempts.tried == 6
    assert failed.value.details["tries"] == 6


@pytest.mark.parametrize(
    ("failure", "tries"),
    [(NcbiUnreadable("cut"), 2), (NcbiQueryRejected("no"), 1), (InvalidInput("bad"), 1), (DeadlineExceeded("late"), 1)],
)
def test_a_failure_is_worth_what_its_nearest_ancestor_is_and_what_nobody_named_is_not_tried_again(failure, tries):
    attempts = Attempts(*[failure] * 9)
    with pytest.raises(type(failure)):
        retry(attempts, worth=WORTH, deadline=NEVER, backoff=steady(Clock()))
    assert attempts.tried == tries


def test_a_longer_pause_that_was_asked_for_is_kept_but_an_hour_long_one_is_not_waited_for():
    clock = Clock()
    retry(Attempts(NcbiRateLimited("slow", retry_after_s=7)), worth=WORTH, deadline=NEVER, backoff=steady(clock))
    assert clock.pauses == [7]
    with pytest.raises(NcbiRateLimited) as failed:
        retry(Attempts(NcbiRateLimited("slow", retry_after_s=3600)), worth=WORTH, deadline=NEVER, backoff=steady(clock))
    assert failed.value.retry_after_s == 3600
    assert clock.pauses == [7]


def test_the_failure_is_raised_at_once_when_the_pause_would_outlast_the_deadline():
    clock = Clock()
    attempts = Attempts(*[NcbiFailed("down")] * 9)
    with pytest.raises(NcbiFailed):
        retry(attempts, worth=WORTH, deadline=Deadline(5, clock), backoff=steady(clock))
    assert clock.pauses == [1, 2]  # the next would be 4, with 2 seconds left
    assert attempts.tried == 3


@given(tried=st.integers(1, 50), chance=st.floats(0, 1, exclude_max=True), asked=st.none() | st.floats(0, 100))
def test_a_pause_stays_within_a_quarter_of_its_steady_length(tried, chance, asked):
    pause = Backoff(rng=lambda: chance).pause_s(tried, asked)
    steady_s = min(30, 2 ** (tried - 1))
    assert 0.75 * steady_s <= pause
    assert pause <= max(1.25 * steady_s, asked or 0)


def test_whoever_waits_is_announced_each_try_to_come():
    reported = []
    attempts = Attempts(*[NcbiFailed("down")] * 2)
    retry(attempts, worth=WORTH, deadline=NEVER, backoff=steady(Clock()), waiting=lambda *tries: reported.append(tries))
    assert reported == [(2, 6), (3, 6)]


def test_a_deadline_that_ends_the_tries_says_how_many_there_were():
    attempts = Attempts(NcbiFailed("down"), DeadlineExceeded("late"))
    with pytest.raises(DeadlineExceeded) as late:
        retry(attempts, worth=WORTH, deadline=NEVER, backoff=steady(Clock()))
    assert late.value.details["tries"] == 2


def test_the_call_that_runs_bounds_the_tries_where_no_deadline_is_given():
    clock = Clock()
    attempts = Attempts(*[NcbiFailed("down")] * 9)
    with bounded_by(Deadline(5, clock)), pytest.raises(NcbiFailed):
        retry(attempts, worth=NcbiFailed, backoff=steady(clock))
    assert clock.pauses == [1, 2]


def test_the_first_try_is_made_whatever_the_time_is():
    assert retry(Attempts(), worth=NcbiFailed, deadline=Deadline(0), backoff=steady(Clock())) == "done"
