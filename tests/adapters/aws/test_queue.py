"""Which queue an event is sent to."""

import json

from bio_mcp.adapters.aws.messages import SqsContinuations
from bio_mcp.doors.aws.queues import QueuedCalls
from tests.support.aws_ports import client
from tests.support.corpus import Over


def test_a_tool_that_has_a_queue_of_its_own_finds_its_calls_there(ports):
    sqs, queues = client("sqs"), ports.queues
    sending = SqsContinuations(sqs, queues["WorkQueue"], {"ingest": queues["IngestQueue"]})
    sending.send({"tool": "ingest", "arguments": {}})
    sending.send({"tool": "sync", "arguments": {}})
    assert {name: received(queues[name]) for name in ("WorkQueue", "IngestQueue")} == {
        "WorkQueue": ["sync"],
        "IngestQueue": ["ingest"],
    }


def test_a_failed_call_is_one_line_in_the_log(ports, caplog):
    sqs, url = client("sqs"), ports.queues["WorkQueue"]
    queue = SqsContinuations(sqs, url)
    queue.send({"tool": "no such tool", "arguments": {}})
    [message] = sqs.receive_message(QueueUrl=url, MessageSystemAttributeNames=["ApproximateReceiveCount"])["Messages"]
    record = {
        "messageId": "m", "receiptHandle": message["ReceiptHandle"], "body": message["Body"],
        "attributes": message["Attributes"],
    }  # fmt: skip
    called = QueuedCalls({}, lambda: Over(None, continuations=queue), lambda: 60_000)
    assert called.answer([record]) == {"batchItemFailures": [{"itemIdentifier": "m"}]}
    assert [(each.levelname, each.message) for each in caplog.records] == [("ERROR", "a queued call failed")]


def received(url):
    asked = client("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0)
    return [json.loads(each["Body"])["tool"] for each in asked.get("Messages", [])]
