"""Who wants what another one is asking for waits for it, and no longer than there is time."""

from contextlib import suppress
from threading import Event, Thread

import pytest

from bio_mcp.adapters.caching import SingleFlight
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, NcbiFailed


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
