from datetime import date

from bio_mcp.syncing.applying import Change
from bio_mcp.syncing.cursor import LAST_PATIENCE, SyncCursor
from bio_mcp.syncing.windows import windows

TODAY = date(2021, 6, 8)


def cursor(**more):
    return SyncCursor(end=TODAY, queue=windows({}, 0, TODAY), **more)


def test_a_segment_that_cannot_be_listed_whole_is_cut_and_the_earlier_half_comes_first():
    it = cursor()
    it.list_segment(it.queue[0], 10_000, ["1"])
    assert it.pmids == []
    assert [each.window for each in it.queue] == ["edat", "edat", "crdt", "mdat"]
    assert it.queue[0].within[0].start < it.queue[1].within[0].start
    assert it.expected == {"edat": 10_000}


def test_every_pmid_of_a_batch_is_accounted_for():
    it = cursor(pmids=["1", "2", "3", "4"])
    it.pass_batch(["1", "2", "3", "4"], {"1": Change.INSERTED, "2": Change.SKIPPED}, lost=["3"])
    assert it.counts == {"inserted": 1, "updated": 0, "skipped": 1}
    assert it.failed == ["3"]
    assert it.missing == {"4": "2021-06-08"}
    assert (it.done, it.processed) == (4, 3)


def test_what_failed_is_tried_once_more():
    it = cursor(pmids=["3"], done=1, failed=["3"])
    assert it.retry_failed()
    assert (it.pmids, it.done, it.failed) == (["3"], 0, [])
    it.pass_batch(["3"], {}, lost=["3"])
    assert not it.retry_failed()
    assert "could not be fetched" in it.shortfalls()[0]


def test_records_counted_but_not_listed_hold_the_watermark():
    it = cursor(expected={"edat": 10}, listed={"edat": 9})
    assert it.shortfalls() == ["1 records of the edat window were counted but not listed; the next run asks again"]
    assert cursor(expected={"edat": 10}, listed={"edat": 11}).shortfalls() == []


def test_a_missing_pmid_that_comes_back_is_no_longer_missing():
    it = cursor(pmids=["4", "4"], missing={"4": "2021-06-01"})
    it.pass_batch(["4"], {}, lost=[])
    assert "not delivered" in it.shortfalls()[0]
    it.pass_batch(["4"], {"4": Change.INSERTED}, lost=[])
    assert (it.missing, it.shortfalls(), it.given_up) == ({}, [], [])


def test_a_missing_pmid_is_given_up_a_week_after_it_was_first_missed():
    for day, over in (("2021-06-01", ["4"]), ("2021-06-02", [])):
        it = cursor(pmids=["4", "5"], missing={"4": day})
        it.pass_batch(["4", "5"], {"5": Change.INSERTED}, lost=[])
        assert it.given_up == over
        assert bool(it.shortfalls()) is not bool(over)


def test_nothing_is_given_up_in_a_run_that_was_returned_nothing():
    it = cursor(pmids=["4"], missing={"4": "2021-01-01"})
    it.pass_batch(["4"], {}, lost=[])
    assert it.given_up == []
    assert it.shortfalls()


def test_what_was_given_up_is_not_asked_for_again_by_itself():
    it = cursor()
    it.ask_again({"4": "2021-06-01", "5": "2021-06-02"})
    assert it.pmids == ["5"]
    assert it.missing == {"4": "2021-06-01", "5": "2021-06-02"}


def test_a_cursor_that_counted_runs_is_read_with_its_own_day():
    old = cursor(pmids=["4"]).to_json() | {"missing": {"4": 3}}
    for name in ("absent", "size", "failures"):
        del old[name]
    assert SyncCursor.from_json(old).missing == {"4": "2021-06-08"}


def test_the_last_try_is_halved_down_to_one_and_grows_again():
    it = cursor(failed=[str(pmid) for pmid in range(1, 6)])
    assert not it.halve()
    it.retry_failed()
    sizes = []
    while it.halve():
        sizes.append(it.size)
    assert sizes == [2, 1]
    it.pass_batch(["1"], {}, lost=["1"])
    assert it.size == 2
    it.failures = LAST_PATIENCE
    assert not it.halve()


def test_a_cursor_survives_json():
    it = cursor(pmids=["1", "2"], done=1, partial={"2": "inserted"}, missing={"7": "2021-06-01"}, warnings=["a"])
    assert SyncCursor.from_json(it.to_json()) == it
