"""So many calls a minute, all at once or evenly."""

from bio_mcp.doors.auth.rate import RateLimiter


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


def test_a_minutes_calls_may_come_at_once_and_come_back_evenly():
    clock = Clock()
    limiter = RateLimiter(6, clock)
    assert [limiter.wait_s("ada") for _ in range(7)] == [0, 0, 0, 0, 0, 0, 10]
    clock.now += 10
    assert [limiter.wait_s("ada") for _ in range(2)] == [0, 10]
    clock.now += 600
    assert [limiter.wait_s("ada") for _ in range(7)] == [0, 0, 0, 0, 0, 0, 10]


def test_being_refused_costs_nothing():
    clock = Clock()
    limiter = RateLimiter(1, clock)
    assert [limiter.wait_s("ada") for _ in range(50)] == [0] + [60] * 49


def test_a_clock_that_is_put_back_locks_nobody_out():
    clock = Clock()
    limiter = RateLimiter(2, clock)
    limiter.wait_s("ada")
    clock.now -= 100_000
    assert limiter.wait_s("ada") <= 60


def test_each_subject_has_its_own_and_few_are_remembered():
    limiter = RateLimiter(1, Clock(), subjects=3)
    assert [limiter.wait_s(str(number)) for number in range(10)] == [0] * 10
    assert len(limiter._full_at) == 3


def test_no_limit_is_none():
    limiter = RateLimiter(0)
    assert [limiter.wait_s("ada") for _ in range(10_000)] == [0] * 10_000
