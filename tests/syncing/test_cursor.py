from datetime import date

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


def test_records_counted_but_not_listed_hold_the_watermark():
    it = cursor(expected={"edat": 10}, listed={"edat": 9})
    assert it.shortfalls() == ["1 records of the edat window were counted but not listed; the next run asks again"]
    assert cursor(expected={"edat": 10}, listed={"edat": 11}).shortfalls() == []


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
