from datetime import UTC, datetime

import pytest

from bio_mcp.errors import Conflict, TakenOver
from bio_mcp.literature.records import ChangeKind, CorpusChange
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.state import Found, Job
from bio_mcp.ports.stores import ReviewRecord, ScreeningLabel
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.scope import holding
from tests.adapters.ports.test_answers import answer
from tests.adapters.ports.test_documents import document
from tests.adapters.ports.test_graph import DYSPEPSIA, GINGER, TURMERIC
from tests.support.cases import case
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
STORED, LATE = Work("doc:1", title="Mine"), Work("doc:2", title="Another")


def job(job_id):
    return Job(job_id, "sync", "running", NOW, NOW, {"query_key": "q"})


def project_document(work):
    return ProjectDocument(work, frozenset({"doi:10.1/x"}))


def stored(ports):
    """What somebody put before the lease passed on."""
    ports.documents.put([document("1"), document("2"), document("3")])
    ports.documents.put([document("1", 2)])
    ports.documents.delete(gone("3"))
    ports.jobs.put(job("sync_1"))
    ports.checkpoints.advance("q", "term", "2025-01-01", {"edat": "2025-01-01"})
    ports.projects.put(Project("lab", "lab", "model"))
    ports.project_documents.put("lab", project_document(STORED))
    ports.news.find("q", [Found("1", 1), Found("2", 1, NOW)])
    ports.answers.put(answer("a", "1"))
    ports.screenings.put("r", [ReviewRecord("1", "T", "A"), ScreeningLabel("1", "abstract", "include", NOW)])
    ports.graph.put([TURMERIC, DYSPEPSIA], [])


def seen(ports):
    """All that readers find."""
    documents, news, screenings = ports.documents, ports.news, ports.screenings
    yield [documents.standing(["1", "2", "3", "7"]), documents.count()]
    yield [documents.at_version("1", version) for version in (1, 2) if "1" in documents.heads(["1"])]
    yield [job.job_id for job in ports.jobs.newest("sync", 9)], ports.jobs.latest("sync", "q")
    yield [ports.checkpoints.all(), ports.projects.all(), ports.project_documents.all("lab")]
    yield [ports.project_documents.find("lab", ["doi:10.1/x"]), ports.project_documents.cursor("lab", "zotero")]
    yield [list(news.pmids("q")), news.since("q", "", 99), news.is_whole("q"), ports.answers.citing("1")]
    yield [screenings.records("r"), screenings.labels("r"), screenings.searches("r")]
    yield [dict(ports.graph.count()), ports.graph.revision(), sorted(ports.graph.named(["Turmeric", "Ingwer"]))]


WRITES = {
    "papers": lambda ports: ports.documents.put([document("7")]),
    "revisions": lambda ports: ports.documents.put([document("2", 2)]),
    "deletions": lambda ports: ports.documents.delete(gone("1")),
    "deletions of what is not there": lambda ports: ports.documents.delete(gone("7")),
    "jobs": lambda ports: ports.jobs.put(job("sync_2")),
    "jobs that are removed": lambda ports: ports.jobs.remove(ports.jobs.get("sync_1")),
    "checkpoints": lambda ports: ports.checkpoints.advance("q", "term", "2026-01-01", {"edat": "2026-01-01"}),
    "checkpoints that are removed": lambda ports: ports.checkpoints.remove("q"),
    "projects": lambda ports: ports.projects.put(Project("lab", "lab", "another")),
    "projects that are deleted": lambda ports: ports.projects.delete("lab"),
    "documents of projects": lambda ports: ports.project_documents.put("lab", project_document(LATE)),
    "documents that are deleted": lambda ports: ports.project_documents.delete("lab", ["doc:1"]),
    "documents that are dropped": lambda ports: ports.project_documents.drop("lab"),
    "cursors": lambda ports: ports.project_documents.put_cursor("lab", "zotero", {"at": 1}),
    "news": lambda ports: ports.news.set_whole("q"),
    "papers of queries": lambda ports: ports.news.find("q", [Found("7", 1)]),
    "dated papers of queries": lambda ports: ports.news.find("q", [Found("8", 1, NOW)]),
    "changes": lambda ports: ports.news.record([CorpusChange(ChangeKind.CHANGED, "1", 2)]),
    "news that are forgotten": lambda ports: ports.news.forget("q"),
    "answers": lambda ports: ports.answers.put(answer("b", "1")),
    "records of reviews": lambda ports: ports.screenings.put("r", [ReviewRecord("2", "T", "A")]),
    "labels that are taken back": lambda ports: ports.screenings.remove_labels(
        "r", [ScreeningLabel("1", "abstract", "include", NOW)]
    ),
    "reviews that are dropped": lambda ports: ports.screenings.drop("r"),
    "the graph": lambda ports: ports.graph.put([GINGER], []),
}


def test_what_is_written_or_deleted_under_a_lease_that_has_passed_on_is_refused(ports, clock):
    stored(ports)
    mine = ports.leases.acquire("sync:q", "me", 60)
    clock.now += 61
    yours = ports.leases.acquire("sync:q", "you", 60)
    before = list(seen(ports))
    for what, write in WRITES.items():
        with case(what), holding(mine), pytest.raises(Conflict, match="another run took over"):
            write(ports)
    assert list(seen(ports)) == before
    with holding(yours):
        for write in WRITES.values():
            write(ports)
    assert all(now != then for now, then in zip(seen(ports), before, strict=True))
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
