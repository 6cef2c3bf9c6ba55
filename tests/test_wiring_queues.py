"""Where on AWS a call waits that is made later: in the queue of the function that has its tool."""

import json

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.settings import Settings
from bio_mcp.wiring.aws import Aws
from scripts.template.functions import declared
from tests.support.aws_ports import NOBODY, MotoPorts, client

QUEUED = {name: each.lambda_module for name, each in TOOLS.items() if declared(each.lambda_module).get("queue")}


@pytest.fixture(scope="module")
def ports():
    made = MotoPorts()
    yield made
    made.close()


@pytest.mark.parametrize("tool", QUEUED)
def test_what_an_operator_leaves_to_the_stack_reaches_the_function_that_has_the_tool(tool, ports, monkeypatch):
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)
    urls = ports.queues
    named = {"ingest_queue_url": urls["IngestQueue"], "evaluate_queue_url": urls["EvaluateQueue"]}
    named |= {"export_queue_url": urls["ExportQueue"]}
    backends = Aws(Settings(mode="aws", queue_url=urls["WorkQueue"], **named))
    backends.continuations.send({"tool": tool, "arguments": {}})
    backends.close()
    url = urls[declared(QUEUED[tool])["queue"]]
    [message] = client("sqs").receive_message(QueueUrl=url)["Messages"]
    assert json.loads(message["Body"])["tool"] == tool
    client("sqs").delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
