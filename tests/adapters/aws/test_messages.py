"""What is put on the bus and into queues, and what becomes of entries that the bus does not take."""

import json
from dataclasses import replace

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from bio_mcp.adapters.aws.messages import AT_ONCE, BACKOFF, EventBridgeAnnouncements, SqsContinuations
from bio_mcp.doors.aws.queues import QueuedCalls
from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.records import ChangeKind, CorpusChange
from tests.support.aws_ports import client
from tests.support.corpus import Over


class Bus:
    """Takes entries but for those whose PMID it refuses so many times; `calls` are the PMIDs of each call."""

    def __init__(self, refusing=None, problem=None):
        self.refusing, self.problem = dict(refusing or {}), problem
        self.calls, self.entries = [], []

    def put_events(self, Entries):  # noqa: N803  the name is AWS's
        if self.problem:
            raise self.problem
        self.calls.append([json.loads(each["Detail"])["pmid"] for each in Entries])
        answers = [self._take(entry, pmid) for entry, pmid in zip(Entries, self.calls[-1], strict=True)]
        return {"FailedEntryCount": sum("ErrorCode" in each for each in answers), "Entries": answers}

    def _take(self, entry, pmid):
        if self.refusing.get(pmid, 0) > 0:
            self.refusing[pmid] -= 1
            return {"ErrorCode": "ThrottlingException", "ErrorMessage": "arn:aws:events:secret"}
        self.entries.append(entry)
        return {"EventId": f"id-{pmid}"}


def publish(bus, *pmids):
    pauses = []
    EventBridgeAnnouncements(bus, "corpus-bus", replace(BACKOFF, sleep=pauses.append)).publish(
        [CorpusChange(ChangeKind.NEW, str(n), 2) for n in pmids]
    )
    return pauses


def test_an_event_says_what_and_of_which_version():
    bus = Bus()
    publish(bus, 7)
    [entry] = bus.entries
    assert entry == {
        "EventBusName": "corpus-bus",
        "Source": "bio-mcp",
        "DetailType": "corpus.new",
        "Detail": '{"doc_id": "pmid:7", "pmid": "7", "version": 2}',
    }


@pytest.mark.parametrize(("due", "early"), [(900, 0), (1_900, 900), (1_000 + 4 * 365 * 86_400, 86_400)])
def test_a_call_that_a_clock_ahead_queued_waits_a_day_at_most(due, early):
    queue = SqsContinuations(None, "url", clock=lambda: 1_000.0)
    assert queue.early_s({"due": {"StringValue": str(due)}}) == early


def test_no_call_carries_more_than_ten():
    bus = Bus()
    publish(bus, *range(25))
    assert [len(each) for each in bus.calls] == [AT_ONCE, AT_ONCE, 5]
    assert all(len(json.dumps(each)) < 1024 for each in bus.entries)  # ten are far from 256 KB


def test_only_the_entries_that_were_not_taken_are_put_again():
    bus = Bus(refusing={"2": 2, "3": 1})
    pauses = publish(bus, 1, 2, 3, 4)
    assert bus.calls == [["1", "2", "3", "4"], ["2", "3"], ["2"]]
    assert len(pauses) == 2


def test_what_is_never_taken_is_a_failure_and_names_no_address():
    bus = Bus(refusing={"2": 99})
    with pytest.raises(UpstreamFailed, match="ThrottlingException") as caught:
        publish(bus, 1, 2)
    assert caught.value.retryable
    assert "secret" not in str(caught.value)
    assert len(bus.calls) == BACKOFF.tries


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (ClientError({"Error": {"Code": "AccessDeniedException"}}, "PutEvents"), "AccessDeniedException"),
        (EndpointConnectionError(endpoint_url="https://secret"), "EndpointConnectionError"),
    ],
)
def test_a_bus_that_cannot_be_reached_is_a_failure(problem, says):
    with pytest.raises(UpstreamFailed, match=says) as caught:
        publish(Bus(problem=problem), 1)
    assert "https" not in str(caught.value)


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
