"""What is made on first use is made once; one index for a call; values are read again when they are old."""

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier

import pytest

from bio_mcp.errors import UpstreamFailed
from bio_mcp.lazy import Lazy
from bio_mcp.refreshing import FRESH_S, GUARD_S, OUTAGE_S, STALE_S, RefreshingValue
from bio_mcp.scope import memoize, one_index


def test_many_threads_are_given_one_thing_and_nothing_is_made_before_it_is_wanted():
    made = []

    def bake():
        time.sleep(0.001)
        made.append(object())
        return made[-1]

    lazy = Lazy(bake)
    assert made == []
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: lazy(), range(16))) == set(made)
    assert len(made) == 1


def test_a_failure_is_not_remembered():
    failures = [OSError("no flour")]

    def bake():
        if failures:
            raise failures.pop()
        return "bread"

    lazy = Lazy(bake)
    with pytest.raises(OSError, match="no flour"):
        lazy()
    assert lazy() == "bread"


def test_outside_of_a_block_it_is_looked_up_each_time():
    numbers, owner = count(), object()
    assert [memoize(owner, lambda: next(numbers)) for _ in range(3)] == [0, 1, 2]


def test_within_a_block_it_is_looked_up_once_for_each_owner_and_anew_in_a_block_of_its_own():
    numbers, owner, other = count(), object(), object()

    def found(whose):
        return memoize(whose, lambda: next(numbers))

    with one_index():
        assert (found(owner), found(owner), found(other), found(other)) == (0, 0, 1, 1)
        with one_index():
            assert (found(owner), found(owner)) == (2, 2)
        assert found(owner) == 0
    assert found(owner) == 3


def test_a_block_is_that_of_its_thread():
    numbers, owner = count(), object()
    with one_index(), ThreadPoolExecutor(1) as threads:
        assert memoize(owner, lambda: next(numbers)) == 0
        assert threads.submit(memoize, owner, lambda: next(numbers)).result() == 1
        assert memoize(owner, lambda: next(numbers)) == 0


class Source:
    """Something to read, which counts how often it was and fails when told; and the time."""

    def __init__(self):
        self.value, self.reads, self.down, self.time = "first", 0, False, 1_000.0

    def read(self):
        self.reads += 1
        if self.down:
            raise UpstreamFailed("the issuer is away")
        return self.value

    def clock(self):
        return self.time


@pytest.fixture
def source():
    return Source()


@pytest.fixture
def value(source):
    return RefreshingValue(source.read, source.clock)


def test_it_is_read_when_it_is_needed_and_again_when_it_is_old(value, source):
    assert source.reads == 0
    assert value.get() == "first"
    source.value, source.time = "second", source.time + FRESH_S - 1
    assert value.get() == "first"
    source.time += 1
    assert value.get() == "second"
    assert source.reads == 2


def test_what_does_not_fit_is_read_again_at_once_but_not_again_and_again(value, source):
    value.get()
    source.value = "second"
    assert value.refresh() == "second"
    assert [value.refresh() for _ in range(100)] == [None] * 100
    source.time += GUARD_S
    assert value.refresh() == "second"
    assert source.reads == 3


def test_an_outage_is_outlived_for_an_hour(value, source):
    value.get()
    source.down, source.time = True, source.time + STALE_S - 1
    assert value.get() == "first"
    source.time += 1
    with pytest.raises(UpstreamFailed):
        value.get()


def test_an_outage_is_not_asked_about_at_every_call(value, source):
    source.down = True
    for _ in range(20):
        with pytest.raises(UpstreamFailed):
            value.get()
    assert source.reads == 1
    source.down, source.time = False, source.time + OUTAGE_S
    assert value.get() == "first"


def test_a_clock_that_was_set_back_makes_nothing_last_for_ever(value, source):
    value.get()
    source.value, source.time = "second", source.time - 10_000
    assert value.get() == "second"


def test_of_many_threads_one_reads(value, source):
    together = Barrier(8)
    with ThreadPoolExecutor(8) as threads:
        seen = list(threads.map(lambda _: (together.wait(), value.get())[1], range(8)))
    assert (seen, source.reads) == (["first"] * 8, 1)
