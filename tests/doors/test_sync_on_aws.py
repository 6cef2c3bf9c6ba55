"""A sync as it runs on AWS: a schedule's message, the handler, continuations, redelivery and dead letters."""

import json
from datetime import date

import pytest

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.syncing.delta import lease_name
from bio_mcp.tools import sync_delta
from tests.doors.lambda_bridge import context
from tests.support.aws_corpus import AwsCorpus
from tests.support.aws_ports import MotoPorts, client

FROM, TO = "2021/06/02", "2021/06/03"
TERM = f'"{FROM}"[crdt] : "{TO}"[crdt]'
SCHEDULED = json.dumps({"tool": "pubmed.sync_delta", "arguments": {"query_key": "k", "term": TERM}})


class Cloud:
    """The queue, the function behind it, and whoever looks at what they leave."""

    def __init__(self, made, base_url):
        self.made = made
        self.corpus = AwsCorpus(made, base_url, date(2026, 1, 1))
        self.handler = handler_for(sync_delta, lambda: self.corpus)
        self.sqs, self.queue = client("sqs"), made.queues["WorkQueue"]

    def schedule(self, body=SCHEDULED):
        self.sqs.send_message(QueueUrl=self.queue, MessageBody=body)

    def receive(self):
        """The next message, as Lambda's poller hands it to the function."""
        found = self.sqs.receive_message(
            QueueUrl=self.queue, AttributeNames=["All"], MessageAttributeNames=["All"], MaxNumberOfMessages=1
        )
        for each in found.get("Messages", []):
            return {
                "messageId": each["MessageId"],
                "receiptHandle": each["ReceiptHandle"],
                "body": each["Body"],
                "attributes": each["Attributes"],
                "messageAttributes": {},
                "eventSource": "aws:sqs",
            }
        return None

    def deliver(self, record):
        self.corpus.ncbi.rest()
        answer = self.handler({"Records": [record]}, context(300_000))
        done = answer == {"batchItemFailures": []}
        if done:
            self.sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=record["receiptHandle"])
        return done

    def run(self):
        records = []
        while record := self.receive():
            assert self.deliver(record)
            records.append(record)
        return records

    def count(self, which="ApproximateNumberOfMessages"):
        found = self.sqs.get_queue_attributes(QueueUrl=self.queue, AttributeNames=[which])
        return int(found["Attributes"][which])


@pytest.fixture
def cloud(nobody, ncbi):
    ncbi.control.set_today("2026/01/01")
    made = MotoPorts()
    cloud = Cloud(made, ncbi.base_url)
    yield cloud
    cloud.corpus.close()
    made.close()


@pytest.fixture
def wanted(ncbi):
    return sorted(str(pmid) for pmid in ncbi.control.pmids("crdt", FROM, TO))


def versions(cloud, pmids):
    heads = cloud.corpus.documents.heads(pmids)
    return {pmid: (head.version, head.indexed_version) for pmid, head in heads.items()}


def test_a_scheduled_sync_goes_on_through_the_queue_until_it_is_done(cloud, wanted):
    cloud.schedule()
    records = cloud.run()
    assert len(records) > 1
    assert [json.loads(each["body"])["tool"] for each in records] == ["pubmed.sync_delta"] * len(records)
    assert versions(cloud, wanted) == dict.fromkeys(wanted, (1, 1))
    assert cloud.corpus.passages.count()[0] == cloud.corpus.documents.count() == len(wanted)
    assert cloud.corpus.checkpoints.get("k").last_edat is not None
    assert sorted(cloud.made.heard()) == sorted(("new", pmid) for pmid in wanted)
    assert cloud.made.dead() == []


def test_a_message_that_comes_again_changes_nothing(cloud, wanted):
    cloud.schedule()
    records = cloud.run()
    before = versions(cloud, wanted), cloud.corpus.checkpoints.get("k"), len(cloud.made.heard())
    for record in (*records, records[0]):
        assert cloud.deliver(record)
    cloud.run()
    assert (versions(cloud, wanted), cloud.corpus.checkpoints.get("k"), len(wanted)) == before
    assert cloud.made.heard() == []


def test_a_sync_whose_function_was_killed_is_tried_again_when_its_lease_has_run_out(cloud, wanted):
    assert cloud.corpus.leases.acquire(lease_name("k"), "a function that is no more", 300)
    cloud.schedule()
    cloud.run()
    assert cloud.count("ApproximateNumberOfMessagesDelayed") == 1
    assert cloud.corpus.documents.count() == 0
    cloud.corpus.leases.release(lease_name("k"), "a function that is no more")
    cloud.schedule()
    cloud.run()
    assert versions(cloud, wanted) == dict.fromkeys(wanted, (1, 1))


def test_poison_becomes_a_dead_letter_and_holds_up_nobody(cloud, wanted):
    cloud.schedule("this is no call")
    for _ in range(3):
        assert not cloud.deliver(cloud.receive())
    cloud.schedule()
    cloud.run()
    dead = client("sqs").receive_message(QueueUrl=cloud.made.queues["DeadLetters"])["Messages"]
    assert [each["Body"] for each in dead] == ["this is no call"]
    assert versions(cloud, wanted) == dict.fromkeys(wanted, (1, 1))
