"""Syncs that go on by themselves: what is told of them meanwhile and afterwards, and how they are stopped."""

import logging
import time
from datetime import date, timedelta
from itertools import count

import pytest

from bio_mcp.adapters.embedded.sync_state import SqliteContinuations
from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.errors import BudgetSpent
from bio_mcp.syncing import delta
from bio_mcp.syncing.cursor import TOOL
from bio_mcp.syncing.queries import remove, stop
from tests.adapters.clocks import Clock
from tests.support.corpus import Over, SlowCorpus
from tests.support.hooked import Hooked, at, raising

SYNC = TOOLS[TOOL]
ASKED = {"query_key": "k", "term": "cancer"}
COUNTS = ("inserted", "updated", "skipped", "failed")


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with SlowCorpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as it:
        yield it


@pytest.fixture
def clock():
    return Clock(time.time() + 60)


@pytest.fixture
def queue(corpus, clock):
    return SqliteContinuations(corpus.database, clock, max_attempts=3)


def ask(corpus, deadline=None, progress=None, **more):
    return call(SYNC, {**ASKED, **more}, corpus, deadline=deadline, progress=progress).body


def interrupted(corpus, slices=2):
    """A sync whose time is over after so many slices of its first batch; its answer, and the last it told meanwhile."""
    deadline, announced = Deadline(1_000), []

    def progress(done, total, message):
        announced.append((done, total, message))
        if sum(each[0] > 0 for each in announced) == slices:
            deadline.expire()

    return ask(corpus, deadline, progress), announced[-1]


def work_off(queue, corpus, clock):
    while work_once(queue, TOOLS, corpus):
        clock.now += 1_000


def done(body):
    return sum(body[name] for name in COUNTS)


def test_a_sync_that_goes_on_answers_with_the_counts_that_its_progress_reported(corpus):
    body, (announced, total, message) = interrupted(corpus)
    assert body["state"] == "continues"
    assert done(body) == body["pmids_processed"] == body["inserted"] == announced > 0
    assert body["expected"] == total
    assert message == f"{announced} of {total} records"


def test_whoever_asks_meanwhile_sees_how_far_it_is(corpus):
    began, looks, answers = corpus.now(), count(), []
    slow = Over(corpus, now=lambda: began + timedelta(seconds=delta.SAVE_S) * next(looks))  # it is always time to save

    def progress(announced, _total, _message):
        if announced:
            answers.append((announced, ask(slow)))

    first = ask(slow, progress=progress)
    assert len(answers) > 2
    assert (first["state"], first["inserted"]) == ("complete", corpus.documents.count())
    for announced, meanwhile in answers[1:]:
        assert (meanwhile["state"], meanwhile["job_id"]) == ("running", first["job_id"])
        assert "nothing was started" in meanwhile["warnings"][-1]
        assert done(meanwhile) == announced


def test_the_result_of_a_sync_that_went_on_by_itself_is_given_once_to_whoever_asks_next(corpus, queue, clock):
    began, _ = interrupted(corpus)
    work_off(queue, corpus, clock)
    result, restarted = ask(corpus), ask(corpus)
    assert (result["state"], result["job_id"]) == ("complete", began["job_id"])
    assert result["inserted"] == corpus.documents.count() > began["inserted"] > 0
    assert "ended" in result
    assert "this is the result" in result["warnings"][-1]
    assert (restarted["job_id"] == result["job_id"], restarted["inserted"], "ended" in restarted) == (False, 0, False)


@pytest.mark.parametrize("hours", [2, -4 * 365 * 24], ids=["later", "after a clock that was ahead"])
def test_a_result_that_nobody_asked_for_in_an_hour_stands_in_the_next_answer(corpus, queue, clock, hours):
    began, _ = interrupted(corpus)
    work_off(queue, corpus, clock)
    later = corpus.now() + timedelta(hours=hours)
    restarted = ask(Over(corpus, now=lambda: later))
    assert restarted["job_id"] != began["job_id"]
    assert f"{corpus.documents.count()} inserted" in " ".join(restarted["warnings"])


def test_a_job_that_is_named_is_announced_and_no_other_is_started(corpus, queue, clock):
    began, _ = interrupted(corpus)
    work_off(queue, corpus, clock)
    for _ in range(2):
        again = ask(corpus, job_id=began["job_id"])
        assert (again["state"], again["job_id"]) == ("complete", began["job_id"])
    assert ask(corpus, job_id="none")["error"]["code"] == "NOT_FOUND"


def test_a_sync_under_a_clock_that_was_ahead_keeps_no_later_one_from_going_on(corpus, queue, clock):
    ahead = Over(corpus, now=lambda: corpus.now() + timedelta(days=4 * 365))
    assert ask(ahead)["state"] == "complete"
    ask(corpus)  # which says how that one ended
    corpus.checkpoints.remove("k")
    interrupted(corpus)
    clock.now += 3_600
    work_off(queue, corpus, clock)
    assert ask(corpus)["state"] == "complete"


def test_a_call_of_the_queue_that_comes_twice_starts_nothing_and_takes_no_result(corpus, queue, clock):
    began, _ = interrupted(corpus)
    event = {"tool": SYNC.name, "arguments": {**ASKED, "overlap_days": 5, "job_id": began["job_id"]}}
    work_off(queue, corpus, clock)
    queue.send(event)
    clock.now += 1
    work_off(queue, corpus, clock)
    assert corpus.jobs.latest(delta.KIND, "k").job_id == began["job_id"]
    assert ask(corpus)["job_id"] == began["job_id"]


def test_an_outage_is_logged_at_each_try_and_at_its_end_and_the_next_sync_goes_on(corpus, queue, clock, ncbi, caplog):
    began, _ = interrupted(corpus)
    ncbi.control.fault(status=503, times=10_000)
    with caplog.at_level(logging.WARNING, "bio_mcp.worker"):
        work_off(queue, corpus, clock)
    logged = [each for each in caplog.records if each.name == "bio_mcp.worker"]
    assert [each.levelname for each in logged] == ["WARNING", "WARNING", "ERROR"]
    assert {(each.query_key, each.job_id) for each in logged} == {("k", began["job_id"])}
    assert all("NCBI" in each.getMessage() for each in logged)
    assert corpus.jobs.latest(delta.KIND, "k").state == "stalled"
    ncbi.control.clear_faults()
    after = ask(corpus)
    assert (after["state"], after["job_id"]) == ("complete", began["job_id"])
    assert "had stalled: NCBI" in " ".join(after["warnings"])


def test_what_waits_for_somebody_elses_work_stays_in_the_queue(corpus, queue, clock):
    interrupted(corpus)
    corpus.leases.acquire(delta.lease_name("k"), "somebody", 600)
    assert work_once(queue, TOOLS, corpus)
    corpus.leases.release(delta.lease_name("k"), "somebody")
    clock.now += 60
    work_off(queue, corpus, clock)
    assert corpus.jobs.latest(delta.KIND, "k").state == "succeeded"


def test_a_sync_that_was_stopped_does_not_go_on_and_a_later_one_starts_from_the_watermark(corpus, queue, clock):
    began, _ = interrupted(corpus)
    assert [job.job_id for job in stop("k", corpus)] == [began["job_id"]]
    assert stop("k", corpus) == []
    with corpus.database.reading() as connection:
        actions = connection.execute("SELECT action, subject FROM audit").fetchall()
    assert actions == [("corpus.queries.stop", "k")]
    stored = corpus.documents.count()
    work_off(queue, corpus, clock)
    assert corpus.documents.count() == stored
    assert corpus.dead_letters.all() == []
    after = ask(corpus)
    assert after["job_id"] != began["job_id"]
    assert after["state"] == "complete"


def test_a_running_sync_that_is_stopped_ends_at_the_next_slice(corpus):
    seen = []

    def progress(announced, _total, _message):
        seen.append(announced)
        if announced:
            stop("k", corpus)

    body = ask(corpus, progress=progress)
    assert body["state"] == "cancelled"
    assert sum(announced > 0 for announced in seen) == 1
    assert corpus.jobs.latest(delta.KIND, "k").state == "cancelled"
    assert corpus.checkpoints.get("k").last_edat is None


def test_a_query_that_was_removed_leaves_its_papers_and_nothing_that_goes_on(corpus, queue, clock):
    ask(corpus)
    stored = corpus.documents.count()
    interrupted_again = ask(corpus, Deadline(0))
    assert interrupted_again["state"] == "continues"
    assert [each.term for each in remove("k", corpus)] == ["cancer"]
    work_off(queue, corpus, clock)
    assert corpus.dead_letters.all() == []
    assert corpus.jobs.latest(delta.KIND, "k") is None
    assert corpus.checkpoints.all("k") == []
    assert corpus.documents.count() == stored


def test_the_warnings_of_a_sync_are_logged_at_its_end(corpus, caplog):
    with caplog.at_level(logging.WARNING, "bio_mcp.tools.sync_delta"):
        call(SYNC, {"query_key": "odd", "term": "cancer OR zzyzzyva", "confirm": True}, corpus, unattended=True)
    [warning] = [each for each in caplog.records if each.levelname == "WARNING"]
    assert "zzyzzyva" in warning.getMessage()
    assert (warning.query_key, warning.state) == ("odd", "complete")


def test_a_sync_that_has_begun_is_reported_as_running_before_ncbi_has_been_reached(corpus, ncbi):
    class Reached(SlowCorpus):
        """Asks for the same sync when NCBI is reached for."""

        @property
        def entrez(self):
            answers.append(ask(corpus, confirm=True))
            return super().entrez

    answers = []
    with Reached(corpus.settings.home, ncbi.base_url, date(2026, 1, 1)) as running:
        first = ask(running, confirm=True)
    assert first["state"] == "complete"
    assert {each["state"] for each in answers} == {"running"}


def test_a_sync_whose_caller_has_spent_the_days_budget_goes_on_when_there_is_a_new_one(corpus, queue, clock):
    spend = raising(BudgetSpent, "your budget of 9 requests to NCBI a day is used up", retry_after_s=7_200)
    spent = Hooked(corpus.entrez, "efetch", before=at({1}, spend))
    limited = Over(corpus, entrez=spent, continuations=queue)
    body = ask(limited)
    assert body["state"] == "continues"
    assert body["warnings"][0] == "your budget of 9 requests to NCBI a day is used up; the job goes on then"
    assert "used up" in corpus.jobs.get(body["job_id"]).progress["error"]
    assert not work_once(queue, TOOLS, limited)
    clock.now += 7_300
    assert work_once(queue, TOOLS, limited)
    assert corpus.jobs.get(body["job_id"]).state == "succeeded"
