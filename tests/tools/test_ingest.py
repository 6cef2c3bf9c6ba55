"""ingest_from_source and ingest.run, called as every door calls them."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bio_mcp.adapters.sources import Folders
from bio_mcp.call import call
from bio_mcp.callers import Caller
from bio_mcp.deadline import Deadline
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.doors.running import in_process
from bio_mcp.ingesting.writing import REMEDY
from bio_mcp.ports.projects import Project
from bio_mcp.tenants import CallBackends
from bio_mcp.tool import Context
from bio_mcp.tools.ingest import MOST_MADE, ingest_from_source, ingest_run
from tests.extracting.herbarium import opened as opened_herbarium
from tests.ingesting.library import PROJECT, opened
from tests.support.corpus import HashedWords, Over

TOOLS = {ingest_from_source.name: ingest_from_source}


@pytest.fixture
def library(tmp_path):
    with opened(tmp_path) as library:
        yield library


def ingest(library, source=None, *, local=True, deadline=None, **options):
    arguments = {
        "project": PROJECT,
        "source": str(source or library.files),
        **({"options": options} if options else {}),
    }
    return call(ingest_from_source, arguments, library, local=local, deadline=deadline).body


def test_the_answer_has_the_contracts_fields_and_how_many_documents_there_were(library):
    library.write("a.md", "Hearts beat.")
    library.write("b.md", b"\xff")
    body = ingest(library)
    assert body.pop("duration_seconds") >= 0
    assert body.pop("job_id").startswith("ingest_")
    assert body.pop("next_step").startswith("query_hybrid")
    warnings = ["Metadata not found for document 'a.md'", REMEDY, "'b.md': it is damaged: it is no text"]
    counts = {"chunks_written": 1, "documents_processed": 1, "documents_expected": 2, "documents_unchanged": 0}
    models = {"dense_model": "hashed-words", "sparse_model": "bio-mcp/bm25-1"}
    assert body == {**counts, **models, "failed": 1, "project": PROJECT, "state": "complete", "warnings": warnings}


def test_a_project_is_made_if_it_is_asked_for_and_only_then(library):
    library.write("a.md", "Hearts beat.")
    arguments = {"project": "new", "source": str(library.files)}
    error = call(ingest_from_source, arguments, library, local=True).body["error"]
    assert error["message"].endswith("ingest_from_source with create: true makes one.")
    made = call(ingest_from_source, {**arguments, "create": True}, library, local=True).body
    assert (made["state"], made["documents_processed"], made["project"]) == ("complete", 1, "new")
    again = call(ingest_from_source, {**arguments, "create": True}, library, local=True).body
    assert (again["state"], again["documents_unchanged"]) == ("complete", 1)


def test_a_name_that_no_project_may_have_makes_none(library):
    library.write("a.md", "Hearts beat.")
    arguments = {"project": "no:thing", "source": str(library.files), "create": True}
    assert call(ingest_from_source, arguments, library, local=True).body["error"]["code"] == "INVALID_ARG"


def test_a_caller_makes_projects_of_its_own_tenant_and_no_more_than_a_hundred(library):
    arguments = {"project": "lab", "source": "https://example.org/a.pdf", "create": True}
    ada = Caller("ada", tenant="north")
    call(ingest_from_source, arguments, library, caller=ada)
    assert [each.project_id for each in CallBackends(library, ada).projects.all()] == ["lab"]
    own = CallBackends(library, ada)
    for number in range(MOST_MADE):
        own.projects.put(Project(f"p{number}", f"c{number}", "m"))
    error = call(ingest_from_source, {**arguments, "project": "more"}, library, caller=ada).body["error"]
    assert f"{MOST_MADE} projects" in error["message"]


def test_a_project_without_the_lexical_leg_has_no_sparse_model(library):
    library.add_project(PROJECT, hybrid_enabled=False)
    library.write("a.md", "Hearts beat.")
    assert ingest(library)["sparse_model"] is None


def test_a_client_over_http_may_not_name_files_and_the_users_own_may(library):
    library.write("a.md", "Hearts beat.")
    arguments = {"project": PROJECT, "source": str(library.files)}
    context = Context("id", Deadline(15))
    refused = in_process(library)(ingest_from_source, arguments, context).body
    assert refused["error"]["code"] == "INVALID_ARG"
    assert "BIO_MCP_INGEST_ROOTS" in refused["error"]["message"]
    assert str(library.files) not in str(refused)
    assert in_process(library, local=True)(ingest_from_source, arguments, context).body["chunks_written"] == 1


def test_references_go_through_the_same_guard(library, tmp_path):
    library.write("a.md", "Hearts beat.")
    arguments = {"project": PROJECT, "source": "s3://private/a.pdf"}
    assert "BIO_MCP_INGEST_BUCKETS" in call(ingest_from_source, arguments, library, local=True).body["error"]["message"]
    body = ingest(library, references_path="https://evil.example/library.json")
    assert "BIO_MCP_INGEST_HOSTS" in body["error"]["message"]
    body = ingest(library, references_path=str(library.files / "a.md"))
    assert (body["error"]["code"], library.texts) == ("INVALID_ARG", [])
    assert "not CSL-JSON" in body["error"]["message"]


def test_the_worker_of_the_queue_goes_on_with_what_the_user_began(library):
    for n in range(3):
        library.write(f"{n}.md", f"Text {n}.")
    first = ingest(library, deadline=Deadline(5))  # less than a first document may take
    assert (first["state"], first["chunks_written"]) == ("continues", 0)
    assert work_once(library.continuations, TOOLS, library)
    body = ingest(library)
    assert (body["state"], body["chunks_written"], body["job_id"]) == ("complete", 3, first["job_id"])
    assert body["ended"]


def test_a_job_that_the_queue_gives_up_is_stalled_and_the_next_call_goes_on(library):
    library.write("a.md", "Hearts beat.")
    first = ingest(library, deadline=Deadline(5))
    library.projects.delete(PROJECT)
    work_once(library.continuations, TOOLS, library)
    assert library.jobs.get(first["job_id"]).state == "stalled"
    library.add_project(PROJECT)
    assert ingest(library, deadline=Deadline(60))["job_id"] == first["job_id"]


class OtherModel(HashedWords):
    fingerprint = "other-words"


def test_a_project_of_another_model_is_refused_until_it_is_rebuilt(library):
    library.write("a.md", "Hearts beat.")
    library.write("b.md", "Livers are large.")
    ingest(library, library.files / "a.md")
    ingest(library, library.files / "b.md")
    library.model = OtherModel()
    refused = ingest(library, library.files / "a.md")
    assert refused["error"]["code"] == "EMBEDDING_MISMATCH"
    assert "force_rebuild" in refused["error"]["message"]
    body = ingest(library, library.files / "a.md", force_rebuild=True)
    assert (body["dense_model"], body["chunks_written"]) == ("other-words", 1)
    assert library.projects.get(PROJECT).embed_model == "other-words"
    assert library.collections.model("proj-lab-heart-failure") == ("other-words", 384)
    assert library.texts == ["Hearts beat.", "Livers are large."]


def test_a_project_that_lost_its_index_says_how_to_make_it_again(library):
    library.write("a.md", "Hearts beat.")
    library.collections.drop("proj-lab-heart-failure")
    body = ingest(library)
    assert body["error"]["code"] == "INVALID_PROJECT"
    assert body["error"]["message"].endswith("ingest_from_source with create: true makes it anew")


STATES = "# Results\nPlainleaf is contraindicated in pregnancy. Mockroot may interact with placebin."


@pytest.fixture
def herbarium(tmp_path):
    with opened_herbarium(tmp_path) as herbarium:
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
    assert body.pop("warnings") == ["Metadata not found for document 'a.md'", REMEDY]
    assert body.pop("next_step") == "the same with dry_run: false writes it"
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
        ({"ocr": {"params": {"dpi": 300}}}, "It takes languages"),
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
