from datetime import UTC, datetime

import pytest

from bio_mcp.errors import Conflict, NotFound, TakenOver
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.state import Job
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.scope import holding
from tests.adapters.ports.test_documents import document
from tests.syncing.stored import gone


def test_one_holds_it_at_a_time_and_alone_releases_it(leases):
    assert leases.acquire("sync:q", "me", 60)
    leases.release("sync:q", "you")
    assert not leases.acquire("sync:q", "you", 60)
    assert leases.acquire("sync:r", "you", 60)
    for _ in range(2):
        leases.release("sync:q", "me")
    assert leases.acquire("sync:q", "you", 60)


def test_the_holder_extends_its_lease(leases, clock):
    leases.acquire("n", "me", 60)
    clock.now += 59
    assert leases.acquire("n", "me", 60)
    clock.now += 59
    assert not leases.acquire("n", "you", 60)


def test_a_lease_that_was_taken_by_a_clock_that_was_ahead_runs_out_all_the_same(leases, clock):
    years = 4 * 365 * 86_400
    clock.now += years
    assert leases.acquire("n", "me", 60)
    clock.now -= years
    assert not leases.acquire("n", "you", 60)
    clock.now += 59
    assert not leases.acquire("n", "you", 60)
    clock.now += 1
    assert leases.acquire("n", "you", 60)


def test_a_lease_that_ran_out_is_free(leases, clock):
    leases.acquire("n", "me", 60)
    clock.now += 60
    assert leases.acquire("n", "you", 60)
    assert not leases.acquire("n", "me", 60)


def test_a_hold_is_counted_up_whenever_the_lease_passes_to_another_and_never_comes_again(leases, clock):
    first = leases.acquire("n", "me", 60)
    assert leases.acquire("n", "me", 60) == first
    clock.now += 61
    assert leases.acquire("n", "me", 60) == first
    clock.now += 61
    second = leases.acquire("n", "you", 60)
    leases.release("n", "you")
    clock.now += 100_000
    again = leases.acquire("n", "me", 60)
    assert first.number < second.number < again.number


NOW = datetime(2026, 1, 1, tzinfo=UTC)
JOB = Job("sync_1", "sync", "running", NOW, NOW, {"query_key": "q"})
WORK = Work("doc:1", title="Mine")
WRITES = {
    "documents": lambda ports: ports.documents.put([document("1")]),
    "deletions": lambda ports: ports.documents.delete(gone("7")),
    "jobs": lambda ports: ports.jobs.put(JOB),
    "checkpoints": lambda ports: ports.checkpoints.advance("q", "term", "2026-01-01", {"edat": "2026-01-01"}),
    "documents of projects": lambda ports: ports.project_documents.put("lab", ProjectDocument(WORK, frozenset())),
    "cursors": lambda ports: ports.project_documents.put_cursor("lab", "zotero", {"at": 1}),
    "news": lambda ports: ports.news.set_whole("q"),
}


@pytest.mark.parametrize("what", WRITES)
def test_what_is_written_under_a_lease_that_has_passed_on_is_refused(ports, clock, what):
    mine = ports.leases.acquire("sync:q", "me", 60)
    clock.now += 61
    yours = ports.leases.acquire("sync:q", "you", 60)
    with holding(mine), pytest.raises(Conflict, match="another run took over"):
        WRITES[what](ports)
    assert ports.documents.count() == 0
    assert ports.documents.deletions() == 0 or what == "deletions"
    with pytest.raises(NotFound):
        ports.jobs.get("sync_1")
    assert (ports.checkpoints.all(), ports.project_documents.all("lab"), ports.news.is_whole("q")) == ([], [], False)
    with holding(yours):
        WRITES[what](ports)
    ports.leases.release("sync:q", "you")


def test_who_lost_a_lease_can_still_ask_for_it_and_end_it(leases, clock):
    mine = leases.acquire("n", "me", 60)
    clock.now += 61
    leases.acquire("n", "you", 60)
    with holding(mine):
        assert leases.acquire("n", "me", 60) is None
        leases.release("n", "me")
    assert not leases.acquire("n", "me", 60)


def test_a_lease_is_taken_from_whoever_has_it_whatever_the_clock_says_and_is_free_for_the_next(leases, clock):
    held = leases.acquire("n", "me", 60)
    clock.now -= 100_000
    first = leases.take("n")
    second = leases.take("n")
    assert leases.acquire("n", "you", 60).number > second.number > first.number > held.number
    assert leases.take("another")


@pytest.mark.parametrize("what", ["documents of projects", "cursors", "jobs"])
def test_what_is_written_under_a_lease_that_was_taken_is_refused(ports, what):
    first, second = ports.leases.take("project:lab"), ports.leases.take("project:lab")
    with holding(first), pytest.raises(TakenOver, match="another run took over"):
        WRITES[what](ports)
    with holding(second):
        WRITES[what](ports)


def test_who_lost_a_lease_takes_no_other(leases, clock):
    mine = leases.acquire("sync:q", "me", 60)
    theirs = leases.take("n")
    clock.now += 61
    leases.acquire("sync:q", "you", 60)
    with holding(mine), pytest.raises(TakenOver):
        leases.take("n")
    with holding(theirs):
        assert leases.take("other")
