from datetime import date

import pytest

from bio_mcp.call import call
from bio_mcp.callers import Caller
from bio_mcp.syncing.delta import lease_name
from bio_mcp.tools.checkpoint import get_checkpoint, list_queries, set_checkpoint
from tests.support.corpus import Corpus


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path, day=date(2026, 1, 1)) as it:
        yield it


def get(corpus, key="glp1"):
    return call(get_checkpoint, {"query_key": key}, corpus).body


def put(corpus, last_edat, key="glp1"):
    return call(set_checkpoint, {"query_key": key, "last_edat": last_edat}, corpus).body


def test_a_query_that_was_never_synced_has_no_watermark_and_is_said_to_be_unknown(corpus):
    corpus.checkpoints.advance("statins", "statin")
    body = get(corpus)
    assert (body["query_key"], body["last_edat"], body["term"]) == ("glp1", None, None)
    assert body["warnings"] == ["No query 'glp1' is followed. Followed queries: statins. pubmed_sync_delta begins one."]


def test_a_watermark_in_the_future_of_any_term_is_reported(corpus):
    corpus.checkpoints.advance("glp1", "semaglutide", "2025-08-17T15:59:02Z", {"edat": "2027-02-04"})
    corpus.checkpoints.advance("glp1", "liraglutide", "2025-08-01T00:00:00Z", {"edat": "2025-12-31"})
    [warning] = get(corpus)["warnings"]
    assert "in the future, at 2027-02-04" in warning


@pytest.mark.parametrize(
    ("given", "stored", "day"),
    [
        ("2025-08-17T15:59:02Z", "2025-08-17T15:59:02Z", "2025-08-17"),
        ("2025-08-17T02:00:00Z", "2025-08-17T02:00:00Z", "2025-08-16"),
        ("2025-08-17T09:00:00+07:00", "2025-08-17T02:00:00Z", "2025-08-16"),
        ("2025-08-17", "2025-08-17T00:00:00Z", "2025-08-16"),
    ],
    ids=["UTC", "still yesterday at NCBI", "Bangkok", "a bare day"],
)
def test_a_watermark_is_kept_in_utc_and_read_as_ncbis_day(corpus, given, stored, day):
    assert put(corpus, given)["ok"]
    assert get(corpus)["last_edat"] == stored
    assert set(corpus.checkpoints.get("glp1").windows.values()) == {day}


def test_a_watermark_of_a_key_that_nothing_follows_is_said_to_be_of_no_query_and_is_not_listed(corpus):
    assert put(corpus, "2025-08-17") == {
        "ok": True,
        "warnings": ["No query 'glp1' is followed yet: the watermark is for its first sync, if there is one."],
    }
    assert call(list_queries, {}, corpus).body["queries"] == []
    corpus.checkpoints.advance("glp1", "semaglutide")
    assert put(corpus, "2025-08-18") == {"ok": True}
    assert [each["term"] for each in call(list_queries, {}, corpus).body["queries"]] == ["semaglutide"]


def test_a_watermark_set_by_hand_may_go_back_and_is_audited_with_both_values(corpus):
    put(corpus, "2025-08-17T15:59:02Z")
    by = Caller("ada@example.org")
    call(set_checkpoint, {"query_key": "glp1", "last_edat": "2024-01-01T12:00:00Z"}, corpus, caller=by)
    assert get(corpus)["last_edat"] == "2024-01-01T12:00:00Z"
    last = corpus.audit.entries()[-1]
    assert (last["action"], last["subject"], last["caller"]) == ("corpus.checkpoint.set", "glp1", "ada@example.org")
    assert (last["before"], last["after"]) == ("2025-08-17T15:59:02Z", "2024-01-01T12:00:00Z")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("soon", "not an ISO 8601 time"),
        ("0001-01-01T00:00:00+14:00", "not an ISO 8601 time"),
        ("9999-12-31T23:59:59-14:00", "not an ISO 8601 time"),
        ("2026-01-03T00:00:00Z", "in the future"),
    ],
)
def test_what_is_no_past_moment_is_refused_and_nothing_changes(corpus, given, why):
    answer = put(corpus, given)
    assert answer["error"]["code"] == "VALIDATION"
    assert why in answer["error"]["message"]
    assert get(corpus)["last_edat"] is None


def test_a_running_sync_is_not_disturbed(corpus):
    corpus.leases.acquire(lease_name("glp1"), "a run", 60)
    answer = put(corpus, "2025-01-01T00:00:00Z")
    assert answer["error"]["code"] == "STORE"
    assert answer["error"]["details"]["retryable"] is True
    assert get(corpus)["last_edat"] is None
