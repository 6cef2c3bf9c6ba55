"""What is made on first use is made once, and again after a failure."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bio_mcp.lazy import Lazy


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
