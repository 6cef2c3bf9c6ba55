"""ingest.run, called as every door calls it."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bio_mcp.adapters.sources import Folders
from bio_mcp.call import call
from bio_mcp.deadline import Deadline
from bio_mcp.doors.mcp.server import in_process
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.tool import Context
from bio_mcp.tools.ingest import ingest_run
from tests.extracting.herbarium import opened
from tests.support.corpus import Over

STATES = "# Results\nPlainleaf is contraindicated in pregnancy. Mockroot may interact with placebin."


@pytest.fixture
def herbarium(tmp_path):
    with opened(tmp_path) as herbarium:
        yield herbarium


def run(herbarium, *, local=True, deadline=None, **arguments):
    given = {"batch": [{"uri": str(herbarium.files)}], **arguments}
    return call(ingest_run, given, herbarium, local=local, deadline=deadline).body


def test_nothing_is_written_unless_the_call_says_so_and_the_answer_says_what_would_be(herbarium):
    herbarium.write("a.md", STATES)
    before = herbarium.stored
    body = run(herbarium)
    assert herbarium.stored == before
    assert body.pop("job_id").startswith("ingest_run_")
    log = Path(urlsplit(body.pop("log_uri")).path).read_text(encoding="utf-8")
    assert json.loads(log.split("\n")[0])["dry_run"] is True
    assert body.pop("audit")["status"] == "ok"
    counts = {"documents": 1, "failed": 0, "passages": 1, "mentions": 4, "edges": 1, "held_back": 1}
    assert {name: body.pop(name) for name in counts} == counts
    assert body.pop("first_edges") == ["H3 contraindicated_with X1"]
    assert body.pop("warnings") == ["Metadata not found for document 'a.md'"]
    assert body == {"status": "done", "dry_run": True, "project": "ingested"}


def test_somebody_over_http_reads_allowed_files_alone_and_gets_the_key_of_the_log_and_no_path(herbarium):
    herbarium.write("a.md", STATES)
    arguments, context = {"batch": [{"uri": str(herbarium.files)}]}, Context("id", Deadline(60))
    refused = in_process(herbarium)(ingest_run, arguments, context).body
    assert refused["error"]["code"] == "INVALID_ARG"
    assert "BIO_MCP_INGEST_ROOTS" in refused["error"]["message"]
    allowed = Over(herbarium, sources=Folders([str(herbarium.files)]))
    body = in_process(allowed)(ingest_run, arguments, context).body
    key = body["log_uri"].removeprefix("blob:")
    assert herbarium.blobs.get(key)
    assert str(herbarium.files.parent) not in f"{refused}{body}{herbarium.blobs.get(key).decode()}"


def test_the_same_call_goes_on_by_itself_and_reports_its_result(herbarium):
    herbarium.write("a.md", STATES)
    first = run(herbarium, dry_run=False, deadline=Deadline(5))  # less than a first document may take
    assert (first["status"], first["documents"]) == ("queued", 0)
    assert work_once(herbarium.continuations, {ingest_run.name: ingest_run}, herbarium)
    body = run(herbarium, dry_run=False)
    assert (body["status"], body["documents"], body["edges"], body["job_id"]) == ("done", 1, 1, first["job_id"])
    assert body["ended"]


def test_a_batch_of_which_nothing_can_be_read_is_an_error_with_its_reasons(herbarium):
    herbarium.write("a.md", b"\xff")
    body = run(herbarium)
    assert (body["status"], body["failed"]) == ("error", 1)
    assert body["warnings"] == ["'a.md': it is damaged: it is no text"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch": []}, "batch"),
        ({"batch": [{"uri": "s3://private/a.pdf"}]}, "BIO_MCP_INGEST_BUCKETS"),
        ({"batch": [{"uri": "https://evil.example/a.pdf"}]}, "BIO_MCP_INGEST_HOSTS"),
        ({"batch": [{"uri": "/dev/zero"}]}, "this path may not be read"),
        ({"ner": {"provider": "spacy"}}, "there is gazetteer"),
        ({"ocr": {"params": {"dpi": 300}}}, "it takes languages"),
        ({"project": "none"}, "none"),
        ({"job_id": "ingest_run_none"}, "no job"),
        ({"batch": [{"uri": "a", "doc_type": "exe"}]}, "doc_type"),
    ],
)
def test_what_cannot_be_done_is_reported_before_anything_is_read(herbarium, arguments, message):
    error = run(herbarium, **arguments)["error"]
    assert error["code"] in ("INVALID_ARG", "NOT_FOUND")
    assert message in error["message"]
    assert herbarium.plain.read == []
