"""Who wants what another one is asking for waits for it, and no longer than there is time."""

from contextlib import suppress
from threading import Event, Thread

import pytest

from bio_mcp.adapters.caching import SingleFlight
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, NcbiFailed


class Slow:
    """An answer that comes, or fails, when the test says so."""

    def __init__(self, answer="answer"):
        self.answer, self.asked, self.begun, self.go = answer, 0, Event(), Event()

    def __call__(self):
        self.asked += 1
        self.begun.set()
        self.go.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def in_the_air(flights, slow):
    """A thread that asks."""

    def lead():
        with suppress(NcbiFailed):
            flights.do("key", slow, NEVER)

    thread = Thread(target=lead)
    thread.start()
    slow.begun.wait()
    return thread


def test_a_second_one_gets_the_first_ones_answer():
    flights, slow, got = SingleFlight(), Slow(), []
    first = in_the_air(flights, slow)
    second = Thread(target=lambda: got.append(flights.do("key", lambda: "another", NEVER)))
    second.start()
    assert flights.do("other", lambda: "at once", NEVER) == "at once"
    slow.go.set()
    first.join()
    second.join()
    assert (slow.asked, got[0] in ("answer", "another")) == (1, True)


def test_a_failure_of_the_first_one_is_not_the_second_ones():
    flights, slow, got = SingleFlight(), Slow(NcbiFailed("no")), []
    first = in_the_air(flights, slow)
    second = Thread(target=lambda: got.append(flights.do("key", lambda: "asked myself", NEVER)))
    second.start()
    slow.go.set()
    first.join()
    second.join()
    assert got == ["asked myself"]


def test_who_has_no_time_left_does_not_wait_and_takes_nothing_from_the_others():
    flights, slow = SingleFlight(), Slow()
    first = in_the_air(flights, slow)
    with pytest.raises(DeadlineExceeded, match="out of time before NCBI had answered"):
        flights.do("key", lambda: "never asked", Deadline(0))
    slow.go.set()
    first.join()
    assert slow.asked == 1


def test_after_an_answer_or_a_failure_the_next_one_asks_again():
    flights = SingleFlight()
    assert flights.do("key", lambda: "one", NEVER) == "one"
    assert flights.do("key", lambda: "two", NEVER) == "two"
    failing = Slow(NcbiFailed("no"))
    failing.go.set()
    with pytest.raises(NcbiFailed):
        flights.do("key", failing, NEVER)
    assert flights.do("key", lambda: "three", NEVER) == "three"
