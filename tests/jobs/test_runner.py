"""What all long work has in common, asked of the five tools that begin it."""

from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.call import call
from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.jobs.runner import state_of
from bio_mcp.ports.state import Job
from bio_mcp.tools.bibliography import check_bibliography
from bio_mcp.tools.evaluate import eval_run
from bio_mcp.tools.exports import export_papers
from bio_mcp.tools.ingest import ingest_from_source
from bio_mcp.tools.sync_delta import sync_delta
from tests.support.corpus import Corpus

NOW = datetime.now(UTC)
SYNC = (sync_delta, lambda job: {"query_key": "k", "term": "aspirin", "job_id": job})
INGEST = (ingest_from_source, lambda job: {"project": "p", "source": "/dev/null", "job_id": job})
EXPORT = (export_papers, lambda job: {"format": "ris", "pmids": ["1"], "job_id": job})
EVALUATION = (eval_run, lambda job: {"set": "smoke", "params": {"job_id": job}})
REFERENCES = (check_bibliography, lambda job: {"job_id": job})
TOOLS = {"sync": SYNC, "ingest": INGEST, "export": EXPORT, "evaluation": EVALUATION, "references": REFERENCES}


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path) as made:
        create_project("p", Options(), made)
        yield made


@pytest.mark.parametrize("state", ["succeeded", "waiting"])
@pytest.mark.parametrize("asked", TOOLS)
@pytest.mark.parametrize("kind", TOOLS)
def test_a_job_of_another_kind_is_not_found_and_its_result_stays_unread(corpus, asked, kind, state):
    if asked == kind:
        kind = "ingest_run"
    progress = {"processed": 1, "expected": 1, "error": None, "reported": False}
    corpus.jobs.put(Job("j", kind, state, NOW, NOW, {"query_key": "k"}, {"of": kind}, progress))
    tool, arguments = TOOLS[asked]
    assert call(tool, arguments("j"), corpus, local=True).body["error"]["code"] == "NOT_FOUND"
    assert corpus.jobs.get("j").progress == progress


@pytest.mark.parametrize("asked", TOOLS)
def test_a_job_that_does_not_exist_is_not_found(corpus, asked):
    tool, arguments = TOOLS[asked]
    assert call(tool, arguments("none"), corpus, local=True).body["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize("off", [timedelta(), timedelta(days=2), timedelta(days=-4 * 365)])
def test_a_job_that_runs_and_is_silent_or_of_a_time_to_come_is_interrupted(off):
    job = Job("j", "sync", "running", NOW, NOW)
    assert state_of(job, NOW + off) == ("interrupted" if off else "running")
