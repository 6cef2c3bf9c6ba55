"""The nightly check of all projects for notices, over the stores and the queue of AWS, in memory."""

import logging
from collections import Counter
from dataclasses import replace

import pytest

from bio_mcp.call import call
from bio_mcp.callers import Caller
from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import NEVER
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.errors import DeadlineExceeded, UpstreamFailed
from bio_mcp.ingesting import notices
from bio_mcp.ingesting.notices import BATCH, QUERY_KEY, check_all_notices
from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.jobs.runner import RunContext
from bio_mcp.literature.notices import Notice
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.scholarly import RegisteredWork
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.tenants import CallBackends
from tests.support.aws_corpus import AwsCorpus
from tests.support.aws_ports import NOBODY, MotoPorts
from tests.support.corpus import Over

RETRACTION = Notice("retraction", "10.1/notice", "2019-07-26", "Retraction", "retraction-watch")
NIGHTLY = {"tool": "pubmed.sync_delta", "arguments": {"query_key": QUERY_KEY, "term": notices.TERM}}
MANY = BATCH + 20


class Crossref:
    """Crossref, by which every DOI that ends in 7 is retracted; `before` is done before each answer. It does not have
    the DOIs in `lacks`."""

    def __init__(self):
        self.asked, self.before, self.lacks = Counter(), lambda _dois: None, ()

    def of(self, dois, *, deadline):
        deadline.check("it answered")
        self.before(dois)
        self.asked.update(dois)
        return {
            doi: RegisteredWork(doi, notices=(RETRACTION,) if doi.endswith("7") else ())
            for doi in dois
            if doi not in self.lacks
        }


def document(number, **more):
    work = Work(f"doi:10.1/{number}", doi=f"10.1/{number}", **more)
    return ProjectDocument(work, frozenset({work.doc_id}))


@pytest.fixture(scope="module")
def stores():
    with pytest.MonkeyPatch.context() as environment:
        for name, value in NOBODY.items():
            environment.setenv(name, value)
        made = MotoPorts()
        corpus = AwsCorpus(made, "http://127.0.0.1:9/", None)
        for tenant, project, numbers in (("", "lab", range(MANY)), ("north", "own", (500, 507)), ("", "empty", ())):
            seen = CallBackends(corpus, Caller("ann", tenant=tenant))
            create_project(project, Options(), seen)
            for number in numbers:
                seen.project_documents.put(project, document(number))
        corpus.project_documents.put("lab", replace(document(907), work=replace(document(907).work, pmid="7")))
        yield corpus
        corpus.close()
        made.close()


@pytest.fixture
def corpus(stores):
    """The projects with no notice known, no check begun and nothing in the queue."""
    yield Over(stores, notices=Crossref())
    while message := stores.continuations.receive(1):
        stores.continuations.ack(message[0])
    if job := stores.jobs.latest(notices.KIND, QUERY_KEY):
        stores.jobs.remove(job)
    for each in stores.projects.all():
        for found in stores.project_documents.all(each.project_id):
            if found.notices:
                stores.project_documents.put(each.project_id, replace(found, notices=()))


def flagged(corpus):
    return sorted(
        found.work.doi.removeprefix("10.1/")
        for each in corpus.projects.all()
        for found in corpus.project_documents.all(each.project_id)
        if found.notices
    )


ALL = sorted([*(str(number) for number in range(MANY) if number % 10 == 7), "507"])


def deliver(corpus):
    """Deliver what is in the queue until it is empty; returns how many messages that were."""
    count = 0
    while work_once(corpus.continuations, TOOLS, corpus):
        count += 1
    return count


def logged(caplog):
    return [each.state for each in caplog.records if each.message == "synced"]


def check(corpus, **more):
    return check_all_notices(RunContext(corpus, NEVER, lambda *_: None, unattended=True), **more)


def test_what_the_schedule_sends_checks_the_projects_of_every_tenant(corpus, caplog):
    corpus.continuations.send(NIGHTLY)
    with caplog.at_level(logging.INFO):
        assert deliver(corpus) == 1
    assert flagged(corpus) == ALL
    assert corpus.notices.asked.keys() == {f"10.1/{number}" for number in (*range(MANY), 500, 507)}
    assert logged(caplog) == ["complete"]
    report = check(corpus)
    assert (report.processed, report.updated) == (MANY + 2, 0)


def test_a_check_without_time_goes_on_where_it_stopped(corpus, caplog):
    answered = []

    def tire(dois):
        if len(answered) % 2:
            answered.append(None)
            raise DeadlineExceeded("out of time")
        answered.append(dois)

    corpus.notices.before = tire
    corpus.continuations.send(NIGHTLY)
    with caplog.at_level(logging.INFO):
        assert deliver(corpus) == 3
    assert logged(caplog) == ["continues", "continues", "complete"]
    assert set(corpus.notices.asked.values()) == {1}
    assert flagged(corpus) == ALL


def test_while_crossref_is_away_nothing_is_complete_and_the_next_call_goes_on(corpus, caplog):
    def away(dois):
        if "10.1/500" in dois:
            raise UpstreamFailed("Crossref is away")

    corpus.notices.before = away
    with pytest.raises(UpstreamFailed):
        check(corpus)
    assert corpus.jobs.latest(notices.KIND, QUERY_KEY).state == "waiting"
    corpus.notices.before = lambda _dois: None
    assert check(corpus).state == "complete"
    assert set(corpus.notices.asked.values()) == {1}
    assert flagged(corpus) == ALL


def test_documents_that_crossref_refuses_keep_no_others_waiting_and_the_check_is_incomplete(corpus):
    def refuse(dois):
        if "10.1/0" in dois:
            raise UpstreamFailed("Crossref refused the request", retryable=False)

    corpus.notices.before = refuse
    report = check(corpus)
    assert report.state == "incomplete"
    assert report.warnings == (f"{BATCH} documents were not checked: Crossref refused the request",)
    assert report.processed == MANY + 2 - BATCH
    assert "507" in flagged(corpus)
    corpus.notices.before = lambda _dois: None
    assert check(corpus).state == "complete"
    assert flagged(corpus) == ALL


def test_documents_that_crossref_does_not_have_are_counted_in_the_report(corpus):
    corpus.notices.lacks = ("10.1/3", "10.1/500")
    report = check(corpus)
    assert report.state == "complete"
    assert report.warnings == ("documents whose DOIs Crossref does not have, nor notices about them: 2",)
    assert check(corpus, job_id=report.job_id).warnings == report.warnings


def test_a_document_that_is_ingested_or_deleted_meanwhile_stays_as_it_is(corpus):
    def change(dois):
        if "10.1/507" in dois:
            [own] = [each.project_id for each in corpus.projects.all() if each.project_id.endswith(":own")]
            corpus.project_documents.put(own, replace(document(507), sha256="new", chunks=3))
        if "10.1/7" in dois:
            corpus.project_documents.delete("lab", ["doi:10.1/7"])

    corpus.notices.before = change
    check(corpus)
    assert flagged(corpus) == [each for each in ALL if each != "7"]
    [found] = CallBackends(corpus, Caller("ann", tenant="north")).project_documents.find("own", ["doi:10.1/507"])
    assert (found.sha256, found.chunks, found.notices) == ("new", 3, (RETRACTION,))
    corpus.project_documents.put("lab", document(7))


def test_a_caller_may_not_check_the_projects_of_others(corpus):
    body = call(TOOLS["pubmed.sync_delta"], NIGHTLY["arguments"], corpus, caller=Caller("ann", tenant="north")).body
    assert "checkNotices does it for a project" in body["error"]["message"]
    assert not corpus.notices.asked
