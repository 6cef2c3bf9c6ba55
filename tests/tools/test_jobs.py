"""job://{job_id} and jobs.cancel, called as every door calls them."""

from datetime import UTC, datetime

import pytest

from bio_mcp.call import call, read
from bio_mcp.callers import Caller
from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.ports.state import Job
from bio_mcp.tools.jobs import job, jobs_cancel
from tests.support.corpus import Corpus

WHEN = datetime(2026, 1, 1, 12, tzinfo=UTC)
REQUESTS = {
    "sync": ({"query_key": "k", "term": "t", "overlap_days": 5}, "pubmed.sync_delta"),
    "ingest": (
        {"query_key": "k", "local": False, "arguments": {"project": "p", "source": "s3://b/k"}},
        "ingest_from_source",
    ),
    "ingest_run": ({"query_key": "k", "local": False, "arguments": {"batch": [{"uri": "s3://b/k"}]}}, "ingest.run"),
    "evaluation": ({"query_key": "k", "local": False, "arguments": {"set": "smoke"}}, "eval.run"),
}


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path) as made:
        yield made


def put(corpus, kind="sync", state="waiting", **request):
    stored = Job(f"{kind}_1", kind, state, WHEN, WHEN, {**REQUESTS[kind][0], **request})
    stored.progress = {"processed": 200, "expected": 1_000, "error": None}
    corpus.jobs.put(stored)
    return stored.job_id


@pytest.mark.parametrize("kind", REQUESTS)
def test_a_job_names_the_call_that_continues_it_or_reports_its_result(corpus, kind):
    body = read(job, {"job_id": put(corpus, kind)}, corpus).body
    assert (body["state"], body["processed"], body["expected"]) == ("waiting", 200, 1_000)
    assert body["created_at"] == "2026-01-01T12:00:00Z"
    assert body["tool"] == REQUESTS[kind][1]
    TOOLS[body["tool"]].input.model_validate(body["arguments"])
    assert f"{kind}_1" in str(body["arguments"])


def test_what_continues_a_job_over_files_of_this_machine_is_told_to_its_user_alone(corpus):
    job_id = put(corpus, "ingest", local=True, arguments={"project": "p", "source": "file:///home/ada/papers"})
    assert "ada" not in read(job, {"job_id": job_id}, corpus).text
    assert "file:///home/ada/papers" in read(job, {"job_id": job_id}, corpus, local=True).text


def test_an_unknown_job_is_not_found(corpus):
    assert read(job, {"job_id": "sync_2"}, corpus).body["error"]["code"] == "NOT_FOUND"
    assert call(jobs_cancel, {"job_id": "sync_2"}, corpus).body["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize("state", ["running", "waiting", "stalled"])
def test_a_job_is_cancelled_and_who_did_it_is_logged(corpus, state):
    job_id = put(corpus, state=state)
    ada = Caller("ada", frozenset({"admin"}))
    assert call(jobs_cancel, {"job_id": job_id}, corpus, caller=ada).body == {"job_id": job_id, "state": "cancelled"}
    assert corpus.jobs.is_cancelled(job_id)
    [written] = corpus.audit.entries()
    assert (written["action"], written["caller"], written["before"]["state"]) == ("jobs.cancel", "ada", state)


@pytest.mark.parametrize("state", ["succeeded", "failed"])
def test_a_job_that_has_ended_stays_as_it_is(corpus, state):
    job_id = put(corpus, state=state)
    assert call(jobs_cancel, {"job_id": job_id}, corpus).body["state"] == state
    assert corpus.jobs.get(job_id).state == state


def test_an_evaluation_that_is_cancelled_asks_no_further_question(corpus):
    asked = []

    def progress(done, _total, message):
        asked.extend([done] if message == "questions" else [])
        if len(asked) == 3:
            [running] = corpus.jobs.newest("evaluation", 1)
            call(jobs_cancel, {"job_id": running.job_id}, corpus)

    body = call(TOOLS["eval.run"], {"set": "smoke"}, corpus, deadline=Deadline(60), progress=progress).body
    assert body["state"] == "cancelled"
    assert len(asked) == 3
