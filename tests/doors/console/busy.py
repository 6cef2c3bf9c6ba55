"""A small corpus in which much goes on: syncs that run, ended and failed, a project, evaluations, calls."""

from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.evaluating.figures import Result, Run
from bio_mcp.evaluating.run import FOLDER
from bio_mcp.evaluating.run import EvaluationCursor as Evaluation
from bio_mcp.ingesting.run import IngestCursor as Ingest
from bio_mcp.literature.clock import instant
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.state import Job
from bio_mcp.syncing.cursor import SyncCursor
from tests.support.sample_job import JOB
from tests.support.sample_project import NEWBORNS, PROJECT, RETRACTED
from tests.support.touched_ports import small_corpus

HOSTILE = "<script>alert('term')</script> \x1b[31m‮"
WARNINGS = ["PMID 99 is listed and was not returned", "The watermark did not move <b>at all</b>"]
SYNC, EVALUATION = "sync", "evaluation"


@contextmanager
def quiet_corpus():
    """The small corpus without the job of the sample."""
    with small_corpus() as made:
        made.jobs.remove(made.jobs.get(JOB))
        yield made


def job_of(backends, kind, key, state="succeeded", hours=1, *, cursor=None, term=None, error=None):
    """A job that was made `hours` ago and changed a minute ago."""
    now = backends.now()
    request = {"query_key": key} | ({} if term is None else {"term": term, "overlap_days": 5})
    made = now - timedelta(hours=hours)
    progress = {"processed": 0, "expected": 0, "error": error, "reported": True}
    changed = now - timedelta(minutes=1)
    job_id = f"{kind}_{instant(made)}_{uuid4().hex[:6]}"
    return Job(job_id, kind, state, made, changed, request, cursor or {}, progress)


def sync_of(backends, key, state="succeeded", hours=1, *, term="asthma[tiab]", error=None, total=0, **cursor):
    counted = SyncCursor(end=backends.today(), queue=[], **cursor)
    counted.expected = {"edat": total} if total else {}
    return job_of(backends, SYNC, key, state, hours, cursor=counted.to_json(), term=term, error=error)


def add_syncs(backends):
    """Syncs of three queries, one of them running; returns their jobs by query."""
    jobs = [
        sync_of(backends, "newborns", "running", 0.1, total=400, counts={"inserted": 90, "updated": 5, "skipped": 5}),
        sync_of(backends, "asthma", hours=30, counts={"inserted": 1_234, "updated": 60, "skipped": 7}),
        sync_of(
            backends,
            "broken",
            "failed",
            50,
            term=HOSTILE,
            error="NCBI did not answer",
            failed=["12", "7"],
            missing={"99": "2025-01-01"},
            warnings=WARNINGS,
        ),
    ]
    today = backends.today()
    for each in reversed(jobs):
        backends.jobs.put(each)
    for number, each in enumerate(jobs):
        windows = dict.fromkeys(("edat", "crdt", "mdat"), str(today - timedelta(days=number)))
        backends.checkpoints.advance(each.request["query_key"], each.request["term"], None, windows)
    return {each.request["query_key"]: each for each in jobs}


def add_documents(backends, project=PROJECT):
    """The documents of a project, as an ingest records them, and that ingest."""
    documents = [
        ProjectDocument(NEWBORNS, frozenset({NEWBORNS.doc_id}), chunks=2, pages=7),
        ProjectDocument(RETRACTED, frozenset({RETRACTED.doc_id}), chunks=1, ocr=True),
    ]
    for each in documents:
        backends.project_documents.put(project, each)
    cursor = Ingest(expected=3, written=2, failed=1, warnings=["'scan.pdf': it has no text <i>at all</i>"])
    key = f"{project} 0123456789abcdef"
    backends.jobs.put(job_of(backends, "ingest", key, cursor=cursor.to_json()))
    backends.jobs.put(job_of(backends, "ingest", "other 0123456789abcdef", cursor=Ingest(written=5).to_json()))


def figures(recall, latency=0.2):
    result = Result("R@10", recall, recall - 0.05, recall + 0.05, 40)
    return (result, replace(result, name="ECE", value=latency, low=latency - 0.1, high=latency + 0.1, rising=False))


def add_evaluations(backends):
    """Two runs of a set with their reports; returns the name of the second's."""
    history, key = [], ""
    for hours, recall in ((48, 0.8), (2, 0.9)):
        made = job_of(backends, EVALUATION, "smoke", hours=hours)
        run = Run(instant(made.created), "v1", "a model", figures(recall))
        key = backends.blobs.put(FOLDER, f"<p>recall {recall}</p>".encode(), ".html")
        history.append(run)
        made.cursor = Evaluation(expected=40, history=list(history), report_key=key).to_json()
        backends.jobs.put(made)
    return key.rpartition("/")[2]


def add_days(backends):
    """What sixty days before today brought."""
    today = backends.now().date()
    rows = [(str(today - timedelta(days=back)), 7 * back % 90, 11 * back % 40) for back in range(1, 60) if back % 6]
    with backends.database.writing() as connection:
        connection.executemany("INSERT INTO paper_days VALUES (?, ?, ?)", rows)


def add_calls(backends, count=3, caller=None):
    for number in range(count):
        call(TOOLS["rag.search"], {"query": f"heart {number}"}, backends, caller=caller)
    backends.recorder.close()


def add_everything(backends):
    add_syncs(backends)
    add_documents(backends)
    add_evaluations(backends)
    add_days(backends)
    add_calls(backends)
