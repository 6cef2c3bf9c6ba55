"""A cache that fails is left alone for a while; who wants what another one is asking for waits for it."""

import logging
from contextlib import suppress
from threading import Event, Thread

import pytest

from bio_mcp.adapters.caching import COOL_DOWN_S, FailOpenCache, SingleFlight
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, NcbiFailed, StoreFailed
from tests.adapters.clocks import Clock


class Shaky:
    """Fails while `broken`."""

    broken, asked = True, 0

    def get(self, keys):
        self.asked += 1
        if self.broken:
            raise StoreFailed("the store of cached answers could not be reached")
        return dict.fromkeys(keys, "held")

    def put(self, values, _lifetime_s):
        self.get(values)


@pytest.mark.parametrize("use", [lambda cache: cache.get(["a"]), lambda cache: cache.put({"a": b""}, 1)])
def test_it_is_tried_again_after_a_rest(use, caplog):
    shaky, clock = Shaky(), Clock()
    cache = FailOpenCache(shaky, clock)
    with caplog.at_level(logging.WARNING):
        use(cache)
    assert "could not be reached" in caplog.text
    for _ in range(5):
        use(cache)
        assert cache.get(["a"]) == {}
    assert shaky.asked == 1
    clock.now += COOL_DOWN_S
    shaky.broken = False
    assert cache.get(["a"]) == {"a": "held"}
    assert shaky.asked == 2


def test_it_is_tried_again_by_a_clock_that_was_set_back_and_a_bug_is_not_forgiven():
    shaky, clock = Shaky(), Clock(1_000.0)
    cache = FailOpenCache(shaky, clock)
    cache.get(["a"])
    clock.now, shaky.broken = 0.0, False
    assert cache.get(["a"]) == {"a": "held"}
    with pytest.raises(TypeError):
        cache.put(None, 1)


class Slow:
    """A failure that comes when the test says so."""

    def __init__(self):
        self.asked, self.begun, self.go = 0, Event(), Event()

    def __call__(self):
        self.asked += 1
        self.begun.set()
        self.go.wait()
        raise NcbiFailed("no")


def in_the_air(flights, slow):
    """A thread that asks."""

    def lead():
        with suppress(NcbiFailed):
            flights.do("key", slow, NEVER)

    thread = Thread(target=lead)
    thread.start()
    slow.begun.wait()
    return thread


def test_a_failure_of_the_first_one_is_not_the_second_ones():
    flights, slow, got = SingleFlight(), Slow(), []
    first = in_the_air(flights, slow)
    second = Thread(target=lambda: got.append(flights.do("key", lambda: "asked myself", NEVER)))
    second.start()
    slow.go.set()
    first.join()
    second.join()
    assert got == ["asked myself"]
    assert flights.do("key", lambda: "asked again", NEVER) == "asked again"


def test_who_has_no_time_left_does_not_wait_and_takes_nothing_from_the_others():
    flights, slow = SingleFlight(), Slow()
    first = in_the_air(flights, slow)
    with pytest.raises(DeadlineExceeded, match="out of time before NCBI had answered"):
        flights.do("key", lambda: "never asked", Deadline(0))
    slow.go.set()
    first.join()
    assert slow.asked == 1
