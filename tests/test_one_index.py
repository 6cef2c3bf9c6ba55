"""One index for the whole of a call."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

from bio_mcp.scope import memoize, one_index


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
