"""Functions of the built template in containers of Lambda's image, by `sam local invoke`, over an emulator's stores."""

import json

import pytest

from tests.emulated.build import ROOT
from tests.sam_local.ingest_image import container, ensure
from tests.sam_local.local import sam_local
from tests.support.sample_graph import write_graph

pytestmark = pytest.mark.timeout(600)
PMID = "17727691"  # a record of the local NCBI


@pytest.fixture(scope="module")
def local():
    """One stack for all; what is missing to run it fails the tests."""
    with sam_local() as running:
        yield running


@pytest.fixture(scope="module")
def synced(local):
    """What sync_delta answers to its own event, about a record that there is."""
    event = local.event(ROOT / "events/sync_delta/pubmed_sync_delta.json")
    event["arguments"]["term"] = f"{PMID}[uid]"
    return local.invoke("sync_delta", event)


def test_sync_delta_reads_the_local_ncbi_and_embeds_what_it_finds(synced):
    assert (synced["state"], synced["inserted"], synced["warnings"]) == ("complete", 1, [])


def test_search_finds_what_sync_delta_brought(local, synced):
    event = local.event(ROOT / "events/search/rag_search.json")
    [found] = local.invoke("search", event)["results"]
    assert found["doc_id"] == f"pmid:{PMID}"
    assert found["snippet"]


def test_kg_walks_the_graph_that_an_operator_imported(local, tmp_path):
    local.cloud.stack.command("kg", "import", str(write_graph(tmp_path / "graph.jsonl")))
    assert local.invoke("kg", local.event(ROOT / "events/kg/query_kg.json"))["paths"]


def test_answer_quotes_papers_or_says_why_not(local, synced):
    given = local.invoke("answer", local.event(ROOT / "events/answer/rag_answer.json"))
    assert given["withheld"] == (given["answer"] == "")


def test_mcp_http_shakes_hands_with_who_has_a_token(local):
    answer = local.invoke("mcp_http", local.event(ROOT / "events/mcp_http/initialize.json"))
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["result"]["serverInfo"]["name"] == "bio-mcp"


def test_mcp_http_calls_a_function_of_the_emulator(local, synced):
    answer = local.invoke("mcp_http", local.event(ROOT / "events/mcp_http/tools_call.json"))
    result = json.loads(answer["body"])["result"]
    assert not result.get("isError")
    assert result["structuredContent"]["results"][0]["doc_id"] == f"pmid:{PMID}"


def test_mcp_http_refuses_who_has_none(local):
    event = json.loads((ROOT / "events/mcp_http/tools_list.json").read_text())
    assert local.invoke("mcp_http", event)["statusCode"] == 401


def test_console_shows_a_page_to_who_has_a_token(local, synced):
    answer = local.invoke("console", local.event(ROOT / "events/console/corpora.json"))
    assert answer["statusCode"] == 200
    assert "<h1>Corpora</h1>" in answer["body"]


def test_authorize_shows_where_one_signs_in(local):
    answer = local.invoke("authorize", local.event(ROOT / "events/authorize/sign_in.json"))
    assert answer["statusCode"] == 200
    assert "<form" in answer["body"]


# ---- the function that ingests, as a container image ----

PROJECT = "lab/scans"
SCAN = ROOT / "tests/data/ocr/gutenberg_c03.pdf"  # a page of a printed book
QUESTION, SCANNED = "what came of praying for a fish-line", "fish"


@pytest.fixture(scope="module")
def image(local):
    """A container of the image, with what the deployed function is given but the credentials, which are Lambda's."""
    deployed = local.local.variables["IngestFunction"]
    known = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    models = {"BIO_MCP_MODELS": "/opt/models", "AWS_LAMBDA_FUNCTION_TIMEOUT": "300"}
    env = local.local.env
    with container(env, ensure(env), {**deployed, **known, **models}) as running:
        yield running


def put(local, name, content):
    """Put a file into the inbox, as the image's and not the deployed function's to ingest; gives the queue's event."""
    stack = local.cloud.stack
    bucket, key = stack.outputs["Bucket"], f"inbox/{PROJECT}/{name}"
    with stack.queue_closed("ingest"):
        stack.client("s3").put_object(Bucket=bucket, Key=key, Body=content)
        stack.client("sqs").purge_queue(QueueUrl=stack.outputs["IngestQueueUrl"])
    event = json.loads((ROOT / "events/ingest/inbox.json").read_text())
    [record] = event["Records"]
    body = json.loads(record["body"])
    body["detail"] |= {"bucket": {"name": bucket}, "object": {"key": key}}
    record["body"] = json.dumps(body)
    return event


def test_the_image_ingests_a_scan_by_its_own_tesseract(local, image):
    local.cloud.stack.command("projects", "create", PROJECT)
    assert image.invoke(put(local, "scan.pdf", SCAN.read_bytes())) == {"batchItemFailures": []}
    question = {"project": PROJECT, "text": QUESTION, "top_k": 1}
    [hit] = local.invoke("projects", {"tool": "query_hybrid", "arguments": question})["items"]
    assert SCANNED in hit["render_text"].lower()
    assert hit["page_span"]


def test_the_image_writes_nowhere_but_below_tmp(image):
    assert image.execute("sh", "-c", "touch /opt/x /var/task/x /x 2>/dev/null; echo $?").strip() == "1"
    assert image.execute("id", "-u").strip() == "993"


def test_the_image_has_three_languages(image):
    assert {"eng", "deu", "tha"} <= set(image.execute("tesseract", "--list-langs").split())
