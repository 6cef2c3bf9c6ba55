from bio_mcp.deadline import Deadline
from bio_mcp.jobs.runner import FIRST_STEP_S, RESERVE_S, TimeBudget


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_without_a_deadline_there_is_always_time():
    assert TimeBudget().allows(Deadline())


def test_before_anything_was_timed_a_slice_is_given_a_fixed_allowance():
    clock = Clock()
    assert TimeBudget(clock).allows(Deadline(FIRST_STEP_S + RESERVE_S + 0.1, clock))
    assert not TimeBudget(clock).allows(Deadline(FIRST_STEP_S + RESERVE_S - 0.1, clock))


def test_the_longest_stretch_decides_from_then_on():
    clock, deadline = Clock(), None
    pace, deadline = TimeBudget(clock), Deadline(60, clock)
    assert pace.allows(deadline)
    clock.now += 10
    assert pace.allows(deadline)
    clock.now += 1
    assert pace.allows(deadline)
    clock.now = 100 + 60 - RESERVE_S - 14.9
    assert not pace.allows(deadline)
