"""One deployed stack for all tests, each with papers of its own in the local NCBI."""

import json
from collections import defaultdict
from itertools import count

import httpx
import pytest

from tests.emulated.cloud import SAMPLES, cloud
from tests.emulated.stack import until
from tests.support.nlm_files import history, real_records, serving, write

TERM = "depression"
SOME = 64  # papers: two slices of a sync
TIME_OUT_S = 60  # of a function that syncs, in place of the template's
DAYS = (f"1971/01/{day:02}" for day in count(1))


@pytest.fixture(scope="package")
def nlm(tmp_path_factory):
    """A server of NLM's files, twenty of them, of papers that nothing else has."""
    records = real_records(68, shift=900_000_000)
    with serving(write(history(records, 4), tmp_path_factory.mktemp("nlm"))) as served:
        yield served


@pytest.fixture(scope="package")
def up(nlm):
    with cloud(files=SAMPLES, term=TERM, nlm=nlm.url) as running:
        running.stack.client("lambda").update_function_configuration(
            FunctionName=f"{running.stack.name}-sync_delta", Timeout=TIME_OUT_S
        )
        yield running


class Papers:
    """Papers that no other query finds, what is asked for them, and what the stack holds of them."""

    def __init__(self, up, many=SOME):
        self.up, self.stack = up, up.stack
        day = next(DAYS)
        self.key = f"day-{day.replace('/', '-')}"
        first = 71_000_000 + 1_000 * int(day[-2:])
        self.wanted = set(map(str, up.ncbi.control.clone(many, day, first=first)))
        arguments = {"query_key": self.key, "term": f"{day}:{day}[crdt]", "overlap_days": 5}
        self.event = {"tool": "pubmed.sync_delta", "arguments": arguments}

    def stored(self):
        items = self.stack.items("DocumentsTable")
        return {item["pmid"]["S"]: item for item in items if item["pmid"]["S"] in self.wanted}

    def done(self):
        return {pmid for pmid, item in self.stored().items() if item["indexed_version"] == item["version"]}

    def indexed(self):
        """PMID -> what OpenSearch holds, and which write of it that is. Nothing before there is an index."""
        url = f"{self.up.search.url}/pubmed_chunk/_mget"
        answer = httpx.post(url, json={"ids": sorted(self.wanted)}, timeout=10)
        if answer.status_code == httpx.codes.NOT_FOUND:
            return {}
        held = answer.raise_for_status().json()["docs"]
        return {doc["_id"]: (doc["_version"], doc["_source"]) for doc in held if doc.get("found")}

    def watermark(self):
        state = self.stack.invoke("checkpoint", {"tool": "corpus.checkpoint.get", "arguments": {"query_key": self.key}})
        return state["last_edat"]

    def states(self):
        return [line["state"] for line in self.stack.log("sync_delta") if line.get("query_key") == self.key]

    def checkpoint(self):
        return [item for item in self.stack.items("CheckpointsTable") if item["query_key"]["S"] == self.key]

    def are_whole(self):
        return set(self.stored()) == self.done() == set(self.indexed()) == self.wanted

    def until_synced(self, seconds=300):
        until(self.watermark, seconds, f"watermark of {self.key}")


@pytest.fixture(scope="module")
def no_letters(up):
    """The stack's dead letters are none when the module begins, whatever others left there."""
    up.stack.client("sqs").purge_queue(QueueUrl=up.stack.outputs["DeadLettersUrl"])


@pytest.fixture
def announced(up):
    """The PMIDs that the stack's event bus carried since the test began, by what happened to them."""
    events, sqs, bus = up.stack.client("events"), up.stack.client("sqs"), up.stack.outputs["EventBusName"]
    queue = sqs.create_queue(QueueName="announced")["QueueUrl"]
    asked = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]
    events.put_rule(Name="announced", EventBusName=bus, EventPattern=json.dumps({"source": ["bio-mcp"]}))
    events.put_targets(Rule="announced", EventBusName=bus, Targets=[{"Id": "queue", "Arn": asked["QueueArn"]}])
    heard = defaultdict(set)

    def of(kind):
        while messages := sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                event = json.loads(message["Body"])
                heard[event["detail-type"]].add(event["detail"]["pmid"])
                sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
        return heard[kind]

    yield of
    events.remove_targets(Rule="announced", EventBusName=bus, Ids=["queue"])
    events.delete_rule(Name="announced", EventBusName=bus)
    sqs.delete_queue(QueueUrl=queue)


LEFT_OPEN = {"IndexTier": "opensearch", "OpenSearchUrl": "", "OpenSearchDomainName": "", "DocumentsTableName": ""}
"""Parameters of which `make deploy` says what a stack keeps, by their defaults."""


def synced(up, day, many):
    """The PMIDs of papers of a day, which the stack has synced."""
    wanted = set(map(str, up.ncbi.control.clone(many, day, first=71_000_000 + 1_000 * int(day[5:7]))))
    arguments = {"query_key": f"day-{day.replace('/', '-')}", "term": f"{day}:{day}[crdt]", "overlap_days": 5}
    done = up.stack.invoke("sync_delta", {"tool": "pubmed.sync_delta", "arguments": arguments})
    assert (done["state"], done["inserted"]) == ("complete", many)
    return wanted


def found_by(ncbi, term):
    asked = {"db": "pubmed", "retmode": "json", "retmax": 9_999, "term": term}
    answer = httpx.get(f"{ncbi.base_url}esearch.fcgi", params=asked, timeout=10).raise_for_status()
    return set(answer.json()["esearchresult"]["idlist"])


@pytest.fixture
def papers(up):
    return Papers(up)
