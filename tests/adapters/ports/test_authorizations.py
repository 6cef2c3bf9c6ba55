"""What an authorization server remembers."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from bio_mcp.ports.state import Authorization

AT = datetime.fromtimestamp(1_000_000, UTC)  # when the clock of these tests begins


def authorization(key="k1", **fields):
    made = Authorization(
        "session", key, "ann", AT + timedelta(seconds=60), {"subject": "ann", "scopes": ["read"], "text": "ขิง ≤ 5"}
    )
    return replace(made, **fields)


def test_one_comes_back_equal_and_another_kind_or_key_is_another(authorizations):
    authorizations.put(authorization())
    for kind, key in (("session", "k2"), ("refresh", "k1"), ("session", "K1"), ("session", "none")):
        assert authorizations.get(kind, key) is authorizations.take(kind, key) is None
    assert authorizations.get("session", "k1") == authorization()


def test_a_later_one_takes_the_place_of_an_earlier_one(authorizations):
    authorizations.put(authorization())
    authorizations.put(authorization(owner="bob", content={}))
    assert authorizations.get("session", "k1") == authorization(owner="bob", content={})
    assert authorizations.of("session", "ann") == []


def test_a_key_that_is_taken_is_not_added_again_before_its_time_is_over(authorizations, clock):
    assert authorizations.put(authorization(), new=True)
    assert not authorizations.put(authorization(owner="bob"), new=True)
    assert authorizations.get("session", "k1") == authorization()
    assert authorizations.put(authorization(kind="refresh"), new=True)
    clock.now += 61
    assert authorizations.put(authorization(expires=AT + timedelta(seconds=120)), new=True)


def test_what_is_taken_is_gone(authorizations):
    authorizations.put(authorization())
    assert authorizations.take("session", "k1") == authorization()
    assert authorizations.take("session", "k1") is None
    assert authorizations.get("session", "k1") is None


def test_of_all_who_take_at_once_one_gets_it(authorizations):
    authorizations.put(authorization())
    with ThreadPoolExecutor(4) as threads:
        taken = list(threads.map(lambda _: authorizations.take("session", "k1"), range(8)))
    assert [each for each in taken if each] == [authorization()]


def test_of_all_who_add_at_once_one_is_stored(authorizations):
    with ThreadPoolExecutor(4) as threads:
        added = list(threads.map(lambda n: authorizations.put(authorization(owner=f"o{n}"), new=True), range(8)))
    assert added.count(True) == 1
    assert authorizations.get("session", "k1").owner == f"o{added.index(True)}"


def test_what_has_expired_is_as_if_it_had_never_been(authorizations, clock):
    authorizations.put(authorization())
    clock.now += 59
    assert authorizations.get("session", "k1") is not None
    clock.now += 1
    assert authorizations.get("session", "k1") is None
    assert authorizations.of("session", "ann") == []
    assert authorizations.take("session", "k1") is None


def test_those_of_an_owner_come_by_key_and_no_others(authorizations):
    for key, changed in [("k2", {}), ("k1", {}), ("k3", {"owner": "bob"}), ("k4", {"kind": "grant"})]:
        authorizations.put(authorization(key, **changed))
    assert authorizations.of("session", "ann") == [authorization("k1"), authorization("k2")]
    assert authorizations.of("session", "an") == []


def test_an_owners_all_end_at_once_of_every_kind(authorizations):
    for key, changed in [("k1", {}), ("k2", {"kind": "grant"}), ("k3", {"owner": "bob"})]:
        authorizations.put(authorization(key, **changed))
    assert authorizations.revoke("ann") == 2
    assert authorizations.revoke("ann") == 0
    assert (authorizations.get("session", "k1"), authorizations.get("grant", "k2")) == (None, None)
    assert authorizations.get("session", "k3") is not None


def test_nothing_of_a_key_or_an_owner_is_a_pattern(authorizations):
    authorizations.put(authorization("a%b", owner="o_%"))
    assert authorizations.get("session", "a%b") is not None
    assert authorizations.revoke("%") == 0
    assert authorizations.of("session", "o__") == []


def test_a_moment_of_another_zone_is_the_same_moment(authorizations):
    expires = authorization().expires.astimezone(timezone(timedelta(hours=7)))
    authorizations.put(authorization(expires=expires))
    assert authorizations.get("session", "k1") == authorization()


def test_a_key_and_an_owner_may_be_of_any_length_and_characters(authorizations):
    for key in ("https://client.example/" + "a" * 3_000, "a b\n#%", "β" * 700):
        assert authorizations.put(authorization(key, owner=key), new=True)
        assert authorizations.get("session", key) == authorization(key, owner=key)
        assert authorizations.of("session", key) == [authorization(key, owner=key)]


def test_a_clock_that_was_ahead_for_a_while_ends_nothing_for_good_and_what_was_made_by_it_is_not_valid(
    authorizations, clock, ports
):
    authorizations.put(authorization())
    years = 4 * 365 * 86_400
    clock.now += years
    ahead = AT + timedelta(seconds=years + 60)
    assert authorizations.get("session", "k1") is None
    authorizations.put(authorization("k2", expires=ahead))
    assert authorizations.get("session", "k2") is not None
    clock.now -= years
    assert authorizations.get("session", "k1") == authorization()
    assert authorizations.get("session", "k2") is None
    assert authorizations.put(authorization("k2"), new=True)
    assert authorizations.revoke("ann") == 2
