from bio_mcp.ports.state import TERMS_BYTES, Checkpoint


def test_a_query_that_was_never_synced_has_an_empty_checkpoint(checkpoints):
    assert checkpoints.get("q") == Checkpoint("q")
    assert checkpoints.get("q", "t") == Checkpoint("q", term="t")


def test_each_watermark_moves_forward_by_itself(checkpoints):
    checkpoints.advance("q", "t", "2024-05-02T00:00:00Z", {"edat": "2024-05-02", "mdat": "2024-01-01"})
    stands = checkpoints.advance(
        "q", "t", "2024-05-01T00:00:00Z", {"edat": "2024-05-01", "mdat": "2024-06-01", "crdt": "2024-03-03"}
    )
    days = {"edat": "2024-05-02", "mdat": "2024-06-01", "crdt": "2024-03-03"}
    assert stands == Checkpoint("q", "2024-05-02T00:00:00Z", days, "t")
    assert checkpoints.get("q") == checkpoints.get("q", "t") == stands


def test_times_are_compared_as_times(checkpoints):
    checkpoints.advance("q", "t", "2024-05-02T01:00:00+02:00")
    assert checkpoints.advance("q", "t", "2024-05-02T00:30:00Z").last_edat == "2024-05-02T00:30:00Z"
    assert checkpoints.advance("q", "t", "2024-05-02").last_edat == "2024-05-02T00:30:00Z"


def test_advancing_by_nothing_changes_nothing_and_setting_may_go_back_and_tells_what_stood_before(checkpoints):
    first = checkpoints.advance("q", "t", "2024-05-02T00:00:00Z", {"edat": "2024-05-02"})
    assert checkpoints.advance("q", "t") == checkpoints.get("q") == first
    assert checkpoints.set("q", "2020-01-01T00:00:00Z", {"edat": "2020-01-01"}) == first
    assert checkpoints.get("q") == Checkpoint("q", "2020-01-01T00:00:00Z", {"edat": "2020-01-01"}, "t")


def test_terms_of_a_key_do_not_share_watermarks_and_the_one_synced_last_stands_for_the_key(checkpoints):
    one = checkpoints.advance("q", "one", "2024-05-02T00:00:00Z", {"edat": "2024-05-02"})
    assert checkpoints.get("q", "other") == Checkpoint("q", term="other")
    assert checkpoints.advance("q", "other") == checkpoints.get("q") == Checkpoint("q", term="other")
    assert checkpoints.get("q", "one") == one
    checkpoints.advance("q", "one")
    assert checkpoints.get("q") == one


def test_a_watermark_without_a_term_becomes_that_of_the_next_one_that_is_synced(checkpoints):
    checkpoints.set("q", "2020-01-01T00:00:00Z", {"edat": "2020-01-01"})
    assert checkpoints.get("q").term is None
    wanted = Checkpoint("q", "2020-01-01T00:00:00Z", {"edat": "2020-01-01"}, "t")
    assert checkpoints.get("q", "t") == checkpoints.advance("q", "t") == wanted
    assert checkpoints.get("q", "other").last_edat is None


def test_setting_a_key_draws_its_other_terms_back_and_none_forward(checkpoints):
    checkpoints.advance("q", "never read")
    checkpoints.advance("q", "further", "2024-05-02T00:00:00Z", {"edat": "2024-05-02", "mdat": "2021-01-01"})
    checkpoints.advance("q", "last", "2020-01-01T00:00:00Z", {"edat": "2020-01-01"})
    checkpoints.set("q", "2023-01-01T00:00:00Z", {"edat": "2023-01-01", "mdat": "2023-01-01"})
    assert [(each.term, each.last_edat, each.windows) for each in checkpoints.all("q")] == [
        ("never read", None, {}),
        ("further", "2023-01-01T00:00:00Z", {"edat": "2023-01-01", "mdat": "2021-01-01"}),
        ("last", "2023-01-01T00:00:00Z", {"edat": "2023-01-01", "mdat": "2023-01-01"}),
    ]


def test_setting_one_term_leaves_the_others(checkpoints):
    other = checkpoints.advance("q", "other", "2024-05-02T00:00:00Z", {"edat": "2024-05-02"})
    before = checkpoints.advance("q", "t", "2024-05-02T00:00:00Z", {"edat": "2024-05-02"})
    assert checkpoints.set("q", None, {}, "t") == before
    assert checkpoints.get("q", "t") == Checkpoint("q", term="t")
    assert checkpoints.get("q", "other") == other


def test_every_checkpoint_is_listed_by_key_with_the_last_synced_term_last(checkpoints):
    assert checkpoints.all() == []
    for key, term in (("b", "1"), ("a", "1"), ("a", "2"), ("a", "1")):
        checkpoints.advance(key, term)
    assert [(each.query_key, each.term) for each in checkpoints.all()] == [("a", "2"), ("a", "1"), ("b", "1")]
    assert [each.term for each in checkpoints.all("a")] == ["2", "1"]
    assert checkpoints.all("c") == []


def test_a_key_that_is_removed_was_never_synced(checkpoints):
    stood = [checkpoints.advance("q", "1", "2024-05-02T00:00:00Z"), checkpoints.advance("q", "ü")]
    checkpoints.advance("r", "1")
    assert checkpoints.get("r").last_edat is None
    assert checkpoints.remove("q") == stood
    assert checkpoints.remove("q") == []
    assert [each.query_key for each in checkpoints.all()] == ["r"]
    assert checkpoints.get("q") == Checkpoint("q")


def test_terms_that_take_too_much_room_are_forgotten_the_oldest_first(checkpoints):
    long = [f"{number}{'ü' * (TERMS_BYTES // 8)}" for number in range(7)]
    for term in long:
        checkpoints.advance("q", term)
    assert [each.term for each in checkpoints.all("q")] == long[-4:]
