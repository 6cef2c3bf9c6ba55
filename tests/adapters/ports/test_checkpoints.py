from bio_mcp.ports import Checkpoint


def test_a_query_that_was_never_synced_has_an_empty_checkpoint(checkpoints):
    assert checkpoints.get("q") == Checkpoint("q")


def test_each_watermark_moves_forward_by_itself(checkpoints):
    checkpoints.advance("q", "2024-05-02T00:00:00Z", {"edat": "2024-05-02", "mdat": "2024-01-01"})
    stands = checkpoints.advance(
        "q", "2024-05-01T00:00:00Z", {"edat": "2024-05-01", "mdat": "2024-06-01", "crdt": "2024-03-03"}
    )
    wanted = Checkpoint("q", "2024-05-02T00:00:00Z", {"edat": "2024-05-02", "mdat": "2024-06-01", "crdt": "2024-03-03"})
    assert stands == wanted
    assert checkpoints.get("q") == wanted


def test_times_are_compared_as_times(checkpoints):
    checkpoints.advance("q", "2024-05-02T01:00:00+02:00", {})
    assert checkpoints.advance("q", "2024-05-02T00:30:00Z", {}).last_edat == "2024-05-02T00:30:00Z"
    assert checkpoints.advance("q", "2024-05-02", {}).last_edat == "2024-05-02T00:30:00Z"


def test_advancing_by_nothing_changes_nothing(checkpoints):
    checkpoints.advance("q", "2024-05-02T00:00:00Z", {"edat": "2024-05-02"})
    assert checkpoints.advance("q", None, {}) == checkpoints.get("q")
    assert checkpoints.get("q").last_edat == "2024-05-02T00:00:00Z"


def test_setting_may_go_back_and_tells_what_stood_before(checkpoints):
    first = checkpoints.advance("q", "2024-05-02T00:00:00Z", {"edat": "2024-05-02"})
    assert checkpoints.set("q", "2020-01-01T00:00:00Z", {"edat": "2020-01-01"}) == first
    assert checkpoints.get("q") == Checkpoint("q", "2020-01-01T00:00:00Z", {"edat": "2020-01-01"})


def test_queries_do_not_share_checkpoints(checkpoints):
    checkpoints.set("a", "2020-01-01T00:00:00Z", {})
    assert checkpoints.get("b").last_edat is None
