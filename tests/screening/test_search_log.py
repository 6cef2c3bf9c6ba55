"""The log has each search as PRISMA-S reports it, and what the syncs of a query key brought."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from bio_mcp.ports.state import Checkpoint, Job
from bio_mcp.ports.stores import ReviewSearch
from bio_mcp.screening.reviews import search_log
from bio_mcp.syncing.cursor import SyncCursor

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def search(search_id, minutes, database, record_ids, found, method="database", term="x[ti]"):
    at = NOON + timedelta(minutes=minutes)
    return ReviewSearch(search_id, at, database, term, found, tuple(record_ids), method)


def test_a_search_counts_what_it_found_and_what_none_before_had():
    searches = [
        search("a", 0, "PubMed", "123", 4),
        search("b", 1, "Scopus", "2345", 9),
        search("c", 2, "citations", "15", 2, "other", None),
    ]
    logged = search_log(searches, None, None)
    assert [(each.database, each.found, each.new) for each in logged] == [
        ("PubMed", 4, 3), ("Scopus", 9, 2), ("citations", 2, 0),
    ]  # fmt: skip
    assert [each.platform for each in logged] == ["NCBI E-utilities", None, None]
    assert logged[0].at == "2026-05-01T12:00:00Z"
    assert (logged[2].method, logged[2].term) == ("other", None)


def test_the_newest_sync_of_each_term_is_in_the_log_with_the_day_up_to_which_all_is_there():
    job = Job("j", "sync", "succeeded", NOON, NOON + timedelta(minutes=5), cursor=SyncCursor(NOON.date(), []).to_json())
    checkpoints = [
        Checkpoint("heart", "2026-04-30T04:00:00Z", {"edat": "2026-04-30", "mdat": "2026-04-29"}, "heart[ti]"),
        Checkpoint("heart", None, {}, "never begun"),
    ]
    backends = SimpleNamespace(
        checkpoints=SimpleNamespace(all=lambda _key: checkpoints),
        jobs=SimpleNamespace(latest=lambda _kind, _key, term: job if term == "heart[ti]" else None),
        now=lambda: NOON,
    )
    [logged] = search_log([], "heart", backends)
    assert (logged.database, logged.term, logged.at) == ("PubMed", "heart[ti]", "2026-05-01T12:05:00Z")
    assert logged.new is None
    assert "2026-04-29" in logged.note
    assert search_log([], None, backends) == []
