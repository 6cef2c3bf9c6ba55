"""What is kept for a while is found again until its time is over, and never after."""

import os
from concurrent.futures import ThreadPoolExecutor

DAY = 86_400


def values(held):
    return {key: each.value for key, each in held.items()}


def test_what_was_put_is_found_with_its_age(cache, clock):
    cache.put({"1.record.a": b"one", "1.record.b": b"\0\xff"}, 60)
    clock.now += 5.5
    held = cache.get(["1.record.a", "1.record.b", "1.record.c"])
    assert values(held) == {"1.record.a": b"one", "1.record.b": b"\0\xff"}
    assert [each.age_s for each in held.values()] == [5.5, 5.5]


def test_nothing_is_found_of_what_nobody_put(cache):
    assert cache.get(["a"]) == cache.get([]) == {}
    cache.put({}, 60)


def test_a_value_counts_until_its_lifetime_is_over(cache, clock):
    cache.put({"short": b"s"}, 60)
    cache.put({"long": b"l"}, DAY)
    clock.now += 59.9
    assert set(cache.get(["short", "long"])) == {"short", "long"}
    clock.now += 0.1
    assert set(cache.get(["short", "long"])) == {"long"}
    clock.now += DAY
    assert cache.get(["short", "long"]) == {}


def test_what_is_put_again_is_young_again(cache, clock):
    cache.put({"a": b"old"}, 60)
    clock.now += 50
    cache.put({"a": b"new"}, 60)
    clock.now += 50
    held = cache.get(["a"])["a"]
    assert (held.value, held.age_s) == (b"new", 50)


def test_a_lifetime_of_nothing_forgets(cache):
    cache.put({"a": b"one", "b": b"two"}, 60)
    cache.put({"a": b""}, 0)
    assert set(cache.get(["a", "b"])) == {"b"}


def test_clocks_that_are_a_little_apart_do_not_matter_and_one_that_was_set_back_finds_nothing(cache, clock):
    cache.put({"a": b"one"}, DAY)
    clock.now -= 2
    assert cache.get(["a"])["a"].age_s == 0
    clock.now -= 3_600
    assert cache.get(["a"]) == {}


def test_hundreds_of_values_come_and_go_together(cache):
    many = {f"1.record.{number:064}": os.urandom(100) for number in range(731)}
    cache.put(many, 60)
    assert values(cache.get(list(many))) == many


def test_what_is_too_large_is_not_kept_and_the_largest_record_that_there_is_fits(cache):
    fits = os.urandom(380_000)
    cache.put({"too large": bytes(2 << 20), "fits": fits}, 60)
    assert values(cache.get(["too large", "fits"])) == {"fits": fits}


def test_many_threads_may_use_it(cache):
    def use(key):
        cache.put({key: key.encode()}, 60)
        return values(cache.get([key]))

    keys = [str(number) for number in range(12)]
    with ThreadPoolExecutor(12) as threads:
        assert list(threads.map(use, keys)) == [{key: key.encode()} for key in keys]
