"""An ingest that needs more time than its call has goes on as a job, for whoever began it."""

import pytest

from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import BudgetSpent, DeadlineExceeded, Forbidden, InvalidInput, NotFound, StoreFailed
from bio_mcp.ingesting.run import KIND, TOO_LONG
from bio_mcp.jobs.runner import JobRun
from tests.ingesting.library import PROJECT, PlainParser
from tests.support.corpus import Over
from tests.support.hooked import Hooked, at, raising


class Clock:
    """Seconds that pass when somebody says so."""

    now = 0.0

    def __call__(self):
        return self.now


class SlowParser(PlainParser):
    """Takes `seconds` for each file, of those that the call has left."""

    def __init__(self, clock, seconds):
        super().__init__()
        self.clock, self.seconds = clock, seconds

    def parse(self, content, name, languages=()):
        self.clock.now += self.seconds
        return super().parse(content, name, languages)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def slow(library, clock):
    """A library of six documents of which a call of 15 s reads three."""
    library.plain = SlowParser(clock, 4)
    for n in range(6):
        library.write(f"{n}.md", f"Text {n}.")
    return library


def events(library):
    found = []
    while message := library.continuations.receive(60):
        library.continuations.ack(message[0])
        found.append(message[1])
    for each in found:
        library.continuations.send(each)
    return found


def test_what_one_call_has_no_time_for_is_queued_and_goes_on_where_it_stopped(slow, clock):
    report = slow.ingest(deadline=Deadline(15, clock))
    assert (report.state, report.cursor.written, report.cursor.expected) == ("continues", 3, 6)
    assert slow.texts == ["Text 0.", "Text 1.", "Text 2."]
    [event] = events(slow)
    assert event["tool"] == "ingest_from_source"
    assert event["arguments"] == {"project": PROJECT, "source": str(slow.files), "job_id": report.job_id}
    after = slow.ingest(deadline=Deadline(300, clock), unattended=True, local=False, job=report.job_id)
    assert (after.state, after.cursor.written, after.job_id) == ("complete", 6, report.job_id)
    assert slow.plain.read.count("0.md") == slow.plain.read.count("5.md") == 1


def test_an_ingest_whose_caller_has_spent_a_budget_goes_on_when_there_is_a_new_one(library):
    spend = raising(BudgetSpent, "your budget of 9 embeddings a day is used up", retry_after_s=7_200)
    library.plain = Hooked(library.plain, "parse", before=at({2}, spend))
    for name in "abc":
        library.write(f"{name}.md", f"Text {name}.")
    report = library.ingest(deadline=Deadline(300))
    assert (report.state, report.cursor.written) == ("continues", 1)
    assert report.warnings[-2] == "your budget of 9 embeddings a day is used up; the job goes on then"
    assert library.continuations.receive(60) is None, "not before there is a new one"
    after = library.ingest(deadline=Deadline(300), unattended=True, job=report.job_id)
    assert (after.state, after.cursor.written) == ("complete", 3)


def test_the_same_call_again_goes_on_and_then_reports_the_result_once(slow, clock):
    first = slow.ingest(deadline=Deadline(15, clock))
    second = slow.ingest(deadline=Deadline(15, clock))
    assert (second.state, second.cursor.written, second.job_id) == ("complete", 6, first.job_id)
    slow.write("7.md", "Text 7.")
    third = slow.ingest(deadline=Deadline(15, clock))
    assert (third.cursor.written, third.job_id != first.job_id) == (1, True)


def test_a_source_that_another_run_works_on_is_reported_as_running(slow, clock):
    first = slow.ingest(deadline=Deadline(15, clock))
    job = slow.jobs.get(first.job_id)
    job.state = "running"
    slow.jobs.put(job)
    assert slow.leases.acquire(job.lease, "somebody", JobRun.lease_s)
    report = slow.ingest(deadline=Deadline(15, clock))
    assert (report.state, report.job_id, report.cursor.written) == ("running", first.job_id, 3)


def test_documents_that_come_in_behind_the_cursor_are_read_as_well(slow, clock):
    first = slow.ingest(deadline=Deadline(15, clock))
    slow.write("00.md", "It came later.")
    report = slow.ingest(deadline=Deadline(300, clock), unattended=True, job=first.job_id)
    assert report.state == "complete"
    assert "It came later." in slow.texts
    assert (report.cursor.processed, len(slow.texts)) == (7, 7)


def test_a_run_without_a_time_limit_looks_at_every_document_again(slow, clock):
    slow.ingest(deadline=Deadline(15, clock))
    slow.write("0.md", "Text 0 was edited.")
    report = slow.ingest(deadline=NEVER)
    assert "Text 0 was edited." in slow.texts
    assert (report.cursor.written, report.cursor.unchanged) == (4, 2)


def test_a_store_that_fails_leaves_the_job_waiting_and_the_next_call_goes_on(slow, clock):
    fail = at({3}, raising(StoreFailed, "the disk is full"))
    full = Over(slow, project_documents=Hooked(slow.project_documents, "put", before=fail))
    with pytest.raises(StoreFailed) as failed:
        slow.ingest(deadline=Deadline(60, clock), over=full)
    job = slow.jobs.get(failed.value.details["job_id"])
    assert (job.state, job.progress["error"], job.progress["processed"]) == ("waiting", "the disk is full", 1)
    report = slow.ingest(deadline=Deadline(60, clock))
    assert (report.state, report.job_id, len(slow.texts)) == ("complete", job.job_id, 6)


def test_a_cancelled_job_stops_at_its_next_document(slow, clock):
    first = slow.ingest(deadline=Deadline(7.5, clock))

    def cancel(done, _total, _name):
        if done == 2:
            job = slow.jobs.get(first.job_id)
            job.state = "cancelled"
            slow.jobs.put(job)

    report = slow.ingest(deadline=Deadline(60, clock), progress=cancel)
    assert (report.state, len(slow.texts)) == ("cancelled", 3)
    assert slow.jobs.get(first.job_id).state == "cancelled"


def test_a_document_that_takes_longer_than_a_queued_call_is_given_up_the_second_time(library):
    def parse(_content, name, _languages):
        if name == "z.md":
            raise DeadlineExceeded("out of time")

    library.plain = Hooked(library.plain, "parse", before=parse)
    library.write("a.md", "Hearts beat.")
    library.write("z.md", "It never ends.")
    first = library.ingest(deadline=Deadline(60))
    assert (first.state, first.cursor.written) == ("continues", 1)
    again = [library.ingest(deadline=Deadline(60), unattended=True, job=first.job_id) for _ in range(2)]
    assert [each.state for each in again] == ["continues", "complete"]
    assert f"'z.md': {TOO_LONG}" in again[1].warnings
    assert library.texts == ["Hearts beat."]


def test_what_was_embedded_when_the_time_ended_is_not_embedded_again(library, clock):
    def tick(*_):
        clock.now += 4

    tiring = Over(library, embeddings=Hooked(library.model, "embed", before=tick))
    library.write("long.md", "\n".join(f"# Part {n}\nSentence number {n}." for n in range(300)))
    first = library.ingest(deadline=Deadline(15, clock), over=tiring)
    assert first.state == "continues"
    assert [each.chunks for each in library.documents_of_project] == [0]  # it is still to be read
    assert library.model.embedded == 256
    assert library.ingest(deadline=Deadline(300, clock), unattended=True, job=first.job_id).state == "complete"
    assert library.model.embedded == 300
    assert len(library.texts) == 300


def test_nobody_but_the_user_of_the_machine_reads_its_files(library):
    path = library.write("a.md", "Hearts beat.")
    with pytest.raises(Forbidden, match="BIO_MCP_INGEST_ROOTS"):
        library.ingest(path, local=False)
    with pytest.raises(Forbidden):
        library.ingest(path, local=False, unattended=True)


def test_a_job_of_the_machines_user_is_not_continued_for_somebody_else(slow, clock):
    first = slow.ingest(deadline=Deadline(15, clock))
    with pytest.raises(Forbidden):
        slow.ingest(local=False, deadline=Deadline(15, clock), job=first.job_id)
    assert slow.jobs.latest(KIND, slow.jobs.get(first.job_id).request["query_key"]).cursor["written"] == 3


def test_the_job_of_another_source_is_refused(slow, clock):
    first = slow.ingest(deadline=Deadline(15, clock))
    with pytest.raises(InvalidInput, match="another project or source"):
        slow.ingest(slow.files / "0.md", job=first.job_id)
    with pytest.raises(NotFound, match="no job"):
        slow.ingest(job="ingest_unknown")


def test_a_continuation_whose_job_was_removed_does_nothing(slow, clock):
    report = slow.ingest(unattended=True, local=False, job="ingest_unknown")
    assert (report.state, slow.texts) == ("cancelled", [])
