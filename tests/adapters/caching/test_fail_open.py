"""A cache that fails is left alone for a while, and said to have failed."""

import logging

import pytest

from bio_mcp.adapters.caching import COOL_DOWN_S, FailOpenCache
from bio_mcp.errors import StoreFailed
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
