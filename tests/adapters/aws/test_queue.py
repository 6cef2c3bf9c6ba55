"""Which queue an event is sent to."""

import json

from bio_mcp.adapters.aws.queue import SqsContinuations
from tests.aws_ports import client


def test_a_tool_that_has_a_queue_of_its_own_finds_its_calls_there(ports):
    sqs, queues = client("sqs"), ports.queues
    sending = SqsContinuations(sqs, queues["WorkQueue"], {"ingest": queues["IngestQueue"]})
    sending.send({"tool": "ingest", "arguments": {}})
    sending.send({"tool": "sync", "arguments": {}})
    assert {name: received(queues[name]) for name in ("WorkQueue", "IngestQueue")} == {
        "WorkQueue": ["sync"],
        "IngestQueue": ["ingest"],
    }


def received(url):
    """The tools of all that waits in a queue."""
    asked = client("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0)
    return [json.loads(each["Body"])["tool"] for each in asked.get("Messages", [])]
