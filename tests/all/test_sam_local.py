"""Every function of the built template in a container, by `sam local start-lambda`, over an emulator's stores."""

import json

import jmespath
import pytest

from tests.emulated.build import ROOT
from tests.sam_local.ingest_image import container, ensure
from tests.sam_local.local import sam_local
from tests.support.examples import EXPECTED

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def local():
    """One stack for all; what is missing to run it fails the tests."""
    with sam_local() as running:
        yield running


@pytest.mark.parametrize("path", EXPECTED)
def test_an_event_is_answered_as_expected(local, path):
    answer = local.invoke(path.partition("/")[0], local.event(path))
    print(json.dumps(answer, ensure_ascii=False))
    assert {each: jmespath.search(each, answer) for each in EXPECTED[path]} == EXPECTED[path]


# ---- the function that ingests, as a container image ----

PROJECT = "lab/scans"
SCAN = ROOT / "tests/data/ocr/gutenberg_c03.pdf"  # a page of a printed book
QUESTION, SCANNED = "what came of praying for a fish-line", "fish"


@pytest.fixture(scope="module")
def image(local):
    """A container of the image, with what the deployed function is given but the credentials, which are Lambda's."""
    deployed = local.variables["IngestFunction"]
    known = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    models = {"BIO_MCP_MODELS": "/opt/models", "AWS_LAMBDA_FUNCTION_TIMEOUT": "300"}
    with container(local.env, ensure(local.env), {**deployed, **known, **models}) as running:
        yield running


def put(local, name, content):
    """Put a file into the inbox, as the image's and not the deployed function's to ingest; gives the queue's event."""
    stack = local.cloud.stack
    bucket, key = stack.outputs["Bucket"], f"inbox/{PROJECT}/{name}"
    with stack.queue_closed("ingest"):
        stack.client("s3").put_object(Bucket=bucket, Key=key, Body=content)
        stack.client("sqs").purge_queue(QueueUrl=stack.outputs["IngestQueueUrl"])
    event = local.event("ingest/inbox.json")
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
