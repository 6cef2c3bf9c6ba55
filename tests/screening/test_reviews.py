"""A review as it stands: what is decided and left at each stage, its flow diagram, and the log of its searches."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from bio_mcp.ports.state import Checkpoint, Job
from bio_mcp.ports.stores import ReviewRecord, ReviewSearch, ScreeningLabel
from bio_mcp.screening.prisma import flow, search_log
from bio_mcp.screening.reviews import Review, review_of
from bio_mcp.syncing.cursor import SyncCursor
from tests.support.reference_screenings import ReferenceScreenings

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def review(*labels, ids=range(1, 7)):
    made = [
        ScreeningLabel(record_id, stage, decision, NOON + timedelta(minutes=at), *reason)
        for at, (record_id, stage, decision, *reason) in enumerate(labels)
    ]
    return Review("query:x", [ReviewRecord(str(number), f"Title {number}") for number in ids], made)


def abstracts(text):
    """ "1+ 2- 3?" as decisions about abstracts."""
    decisions = {"+": "include", "-": "exclude", "?": "maybe"}
    return [(each[:-1], "abstract", decisions[each[-1]]) for each in text.split()]


def search(search_id, record_ids, found, database="PubMed", minutes=0, method="database", term="x[ti]"):
    at = NOON + timedelta(minutes=minutes)
    return ReviewSearch(search_id, at, database, term, found, tuple(record_ids), method)


def test_a_review_is_read_from_its_store():
    screenings = ReferenceScreenings()
    screenings.put("query:x", [ReviewRecord("2", "Two"), ReviewRecord("1", "One")])
    screenings.put("query:x", [ScreeningLabel("2", "abstract", "include", NOON)])
    found = review_of("query:x", screenings)
    assert [each.record_id for each in found.records] == ["1", "2"]
    assert found.settled("abstract") == {"2": True}


def test_decisions_are_of_one_stage_in_the_order_in_which_they_were_made():
    found = review(*abstracts("3+ 1- 2?"), ("3", "full_text", "exclude"))
    assert list(found.decisions("abstract")) == ["3", "1", "2"]
    assert list(found.decisions("full_text")) == ["3"]
    assert found.of("abstract", "include") == ["3"]
    assert found.of("full_text", "include") == []
    assert found.settled("abstract") == {"3": True, "1": False}  # what may be included is not


def test_a_label_of_a_record_that_the_review_lacks_counts_nowhere():
    found = review(*abstracts("3+ 99+ 98-"))
    assert found.settled("abstract") == {"3": True}
    assert found.of("abstract", "include") == ["3"]


def test_the_full_text_is_about_what_its_abstract_included():
    found = review(*abstracts("3+ 1- 2? 5+"))
    assert found.eligible("full_text") == ["3", "5"]
    assert len(found.eligible("abstract")) == 6


@pytest.mark.parametrize(
    ("decided", "recall", "missed"), [("", None, 6), ("1+ 2- 3- 4- 5- 6-", 1.0, 0), ("1- 2- 3- 4- 5- 6-", None, 0)]
)
def test_the_estimate_is_of_the_abstracts_that_are_left(decided, recall, missed):
    found = review(*abstracts(decided)).stopping("abstract")
    assert (found.recall_at_least, found.missed_at_most) == (recall, missed)


def test_the_estimate_of_full_texts_leaves_out_what_no_abstract_included():
    labels = [*abstracts("1+ 2+ 3- 4- 5- 6-"), ("1", "full_text", "include"), ("2", "full_text", "exclude")]
    found = review(*labels).stopping("full_text")
    assert (found.recall_at_least, found.missed_at_most, found.may_stop) == (1.0, 0, True)


def test_the_order_of_decisions_counts_and_not_that_of_the_papers():
    early = review(*abstracts("6+ 1- 2- 3- 4- 5-"), ids=range(1, 21)).stopping("abstract")
    late = review(*abstracts("1- 2- 3- 4- 5- 6+"), ids=range(1, 21)).stopping("abstract")
    assert early.p_value < late.p_value
    assert early.missed_at_most <= late.missed_at_most


def test_every_record_is_counted_from_its_search_to_its_decision():
    labels = [
        *abstracts("0+ 1+ 2+ 3+ 4+ 5+ 6- 7?"),
        ("0", "full_text", "include"),
        ("1", "full_text", "exclude", "wrong outcome"),
        ("2", "full_text", "exclude", "not retrieved"),
        ("3", "full_text", "exclude", "wrong outcome"),
        ("4", "full_text", "exclude"),
    ]
    searches = [search("a", "01234567", 8), search("b", "45678", 5, "Scopus"), search("c", "89", 2, method="other")]
    found = flow(review(*labels, ids=range(10)), searches)
    assert (found.identified_by("database"), found.identified_by("other"), found.identified) == (13, 2, 15)
    assert found.duplicates_removed == 5
    assert (found.screened, found.excluded, found.undecided) == (7, 1, 3)
    assert (found.sought, found.not_retrieved, found.assessed) == (6, 1, 4)
    assert found.excluded_by_reason == (("wrong outcome", 2), ("no reason given", 1))
    assert (found.included, found.unassessed) == (1, 1)


def test_records_that_no_search_found_were_found_otherwise():
    found = flow(review(ids=range(10)), [search("a", "0123", 4)])
    assert (found.identified_by("database"), found.identified_by("other"), found.duplicates_removed) == (4, 6, 0)


def test_a_full_text_counts_only_where_the_abstract_is_included():
    labels = [("1", "full_text", "include"), *abstracts("2-"), ("2", "full_text", "include")]
    found = flow(review(*labels), [])
    assert (found.sought, found.assessed, found.included) == (0, 0, 0)


def test_a_search_counts_what_it_found_and_what_none_before_had():
    searches = [
        search("a", "123", 4),
        search("b", "2345", 9, "Scopus", 1),
        search("c", "15", 2, "citations", 2, "other", None),
    ]
    logged = search_log(searches, None, None)
    assert [(each.database, each.found, each.new) for each in logged] == [
        ("PubMed", 4, 3), ("Scopus", 9, 2), ("citations", 2, 0),
    ]  # fmt: skip
    assert [each.platform for each in logged] == ["NCBI E-utilities", "Elsevier", None]
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
