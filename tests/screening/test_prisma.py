"""The counts of a flow diagram add up, whatever order things were decided in."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from bio_mcp.ports.stores import ReviewRecord, ReviewSearch, ScreeningLabel
from bio_mcp.screening.reviews import Review, flow

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def review(labels, records=10):
    made = [
        ScreeningLabel(record_id, stage, decision, NOON + timedelta(minutes=at), reason)
        for at, (record_id, stage, decision, reason) in enumerate(labels)
    ]
    return Review("query:x", [ReviewRecord(str(number), "Title") for number in range(records)], made)


def search(search_id, found, record_ids, method="database"):
    return ReviewSearch(search_id, NOON, "PubMed", "x", found, tuple(record_ids), method)


def test_every_record_is_counted_from_its_search_to_its_decision():
    labels = [
        *((str(number), "abstract", "include", None) for number in range(6)),
        ("6", "abstract", "exclude", None),
        ("7", "abstract", "maybe", None),
        ("0", "full_text", "include", None),
        ("1", "full_text", "exclude", "wrong outcome"),
        ("2", "full_text", "exclude", "not retrieved"),
        ("3", "full_text", "exclude", "wrong outcome"),
        ("4", "full_text", "exclude", None),
    ]
    searches = [search("a", 8, "01234567"), search("b", 5, "45678"), search("c", 2, "89", method="other")]
    found = SimpleNamespace(**flow(review(labels), searches))
    assert (found.from_databases, found.from_other_methods, found.identified) == (13, 2, 15)
    assert found.duplicates_removed == 5
    assert (found.screened, found.excluded, found.undecided) == (7, 1, 3)
    assert (found.sought, found.not_retrieved, found.assessed) == (6, 1, 4)
    reasons = [(each["reason"], each["count"]) for each in found.excluded_by_reason]
    assert reasons == [("wrong outcome", 2), ("no reason given", 1)]
    assert found.included == 1


def test_records_that_no_search_found_were_found_otherwise():
    found = SimpleNamespace(**flow(review([]), [search("a", 4, "0123")]))
    assert (found.from_databases, found.from_other_methods, found.duplicates_removed) == (4, 6, 0)


def test_a_full_text_counts_only_where_the_abstract_is_included():
    labels = [
        ("1", "full_text", "include", None),
        ("2", "abstract", "exclude", None),
        ("2", "full_text", "include", None),
    ]
    found = SimpleNamespace(**flow(review(labels), []))
    assert (found.sought, found.assessed, found.included) == (0, 0, 0)
