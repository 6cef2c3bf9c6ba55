"""corpus.queries: what is followed, and how its last sync went."""

from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput
from bio_mcp.jobs.runner import state_of
from bio_mcp.ports.state import Job
from bio_mcp.syncing.cursor import TOOL, SyncCursor
from bio_mcp.tools.checkpoint import MOST_QUERIES
from tests.support.corpus import Corpus, Over

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as it:
        yield it


def sync(corpus, query_key, term, **more):
    return call(TOOLS[TOOL], {"query_key": query_key, "term": term, "confirm": True}, corpus, **more).body


def listed(corpus, **arguments):
    return call(TOOLS["corpus.queries"], arguments, corpus).body


def test_a_query_is_listed_with_its_term_its_day_and_what_its_last_sync_did(corpus):
    done = sync(corpus, "covid", "COVID-19 OR zzyzzyva")
    [query] = listed(corpus)["queries"]
    assert (query["query_key"], query["term"]) == ("covid", "COVID-19 OR zzyzzyva")
    assert (query["last_edat"], query["settled_to"]) == (done["max_edat_seen"], "2025-12-31")
    last = query["last_sync"]
    for name in ("job_id", "state", "inserted", "updated", "skipped", "failed", "expected", "warnings"):
        assert last[name] == done[name]
    assert last["started_at"] <= last["updated_at"]
    assert last["error"] is None
    assert listed(corpus)["papers"] == done["inserted"]


def test_a_sync_that_waits_and_one_that_failed_say_so(corpus, ncbi):
    sync(corpus, "waits", "cancer", deadline=Deadline(0))
    ncbi.control.fault(status=503, times=10_000)
    sync(corpus, "failed", "cancer")
    states = {each["query_key"]: each["last_sync"] for each in listed(corpus)["queries"]}
    assert (states["waits"]["state"], states["waits"]["error"]) == ("waiting", None)
    assert states["failed"]["state"] == "waiting"
    assert "NCBI" in states["failed"]["error"]


def test_the_list_is_bounded_and_says_how_many_more_there_are(corpus):
    for number in range(MOST_QUERIES + 2):
        corpus.checkpoints.advance(f"key {number:03}", "cancer")
    body = listed(corpus)
    assert (len(body["queries"]), body["left_out"]) == (MOST_QUERIES, 2)
    assert body["queries"][0]["last_sync"] is None


def test_where_the_papers_may_not_be_counted_the_queries_are_listed_all_the_same(corpus):
    def count():
        raise InvalidInput("BIO_MCP_TABLE_DOCUMENTS is not set")

    uncounted = Over(corpus, documents=SimpleNamespace(count=count))
    assert listed(uncounted).items() >= {"queries": [], "left_out": 0, "papers": None}.items()


def test_a_job_that_has_been_silent_for_longer_than_its_lease_is_interrupted():
    cursor = SyncCursor(end=NOW.date(), queue=[]).to_json()
    job = Job("sync_1", "sync", "running", NOW, NOW, {}, cursor)
    assert state_of(job, NOW + timedelta(minutes=1)) == "running"
    assert state_of(job, NOW + timedelta(minutes=6)) == "interrupted"


def test_queries_are_listed_by_how_their_keys_begin(corpus):
    for key in ("statins-old", "Statins-new", "ginger", "old-statins"):
        corpus.checkpoints.advance(key, "term", "2026-01-01T00:00:00Z")
    assert [each["query_key"] for each in listed(corpus, query_key="ginger")["queries"]] == ["ginger"]
    found = listed(corpus, starts_with="statins-")
    assert [each["query_key"] for each in found["queries"]] == ["Statins-new", "statins-old"]
    assert found["left_out"] == 0
