"""What is made on first use is made once, and again after a failure."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bio_mcp.lazy import Lazy, lazily


class Shop:
    """Makes bread, slowly, and counts the loaves."""

    def __init__(self, *failures):
        self.failures = list(failures)
        self.loaves = 0

    @lazily
    def bread(self):
        """A loaf."""
        time.sleep(0.001)
        if self.failures:
            raise self.failures.pop()
        self.loaves += 1
        return object()


def test_many_threads_are_given_one_thing():
    shop = Shop()
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda _: shop.bread, range(16)))) == shop.loaves == 1


def test_each_object_has_its_own():
    assert Shop().bread is not Shop().bread


def test_a_failure_is_not_remembered():
    shop = Shop(OSError("no flour"))
    with pytest.raises(OSError, match="no flour"):
        _ = shop.bread
    assert shop.bread is shop.bread


def test_nothing_is_made_before_it_is_wanted():
    made = []
    lazy = Lazy(lambda: made.append(1) or "bread")
    assert made == []
    assert lazy() == lazy() == "bread"
    assert made == [1]
