"""What others hold for ever: how often it is tried, and that no try comes after the call's deadline."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from bio_mcp.adapters.aws import messages, rate_limit, table
from bio_mcp.adapters.aws.clients import Clients
from bio_mcp.adapters.aws.documents import DynamoDocuments
from bio_mcp.adapters.aws.messages import EventBridgeAnnouncements
from bio_mcp.adapters.aws.rate_limit import DynamoRateLimiter
from bio_mcp.adapters.aws.state import DynamoCheckpoints
from bio_mcp.adapters.opensearch.client import BULK_BACKOFF, Busy, OpenSearchTransport
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure
from bio_mcp.literature.records import Article, ChangeKind, CorpusChange, Document
from bio_mcp.scope import bounded_by
from tests.adapters.clocks import Clock

pytestmark = pytest.mark.usefixtures("nobody")
CONFLICT = {"CancellationReasons": [{"Code": "TransactionConflict"}]}
ANSWERS = {
    "GetItem": {},
    "PutItem": "ConditionalCheckFailedException",
    "UpdateItem": "TransactionConflictException",
    "TransactWriteItems": "TransactionCanceledException",
}


class Contention:
    """AWS where every write is overtaken. `tried` are the operations, `clock` moves by the pauses only."""

    def __init__(self, **answers):
        self.answers = ANSWERS | answers
        self.tried, self.clock = [], Clock()
        self.dynamodb = Clients().make("dynamodb", endpoint="http://127.0.0.1:9")
        self.dynamodb.meta.events.register("before-call.dynamodb", self._answer)

    def backoff(self, of):
        return replace(of, rng=lambda: 0.5, sleep=self.clock.sleep)

    def put_events(self, Entries):  # noqa: N803  the name is AWS's
        self.tried.append("PutEvents")
        return {"Entries": [{"ErrorCode": "ThrottlingException"} for _ in Entries]}

    def perform_request(self, method, _path, **_request):
        self.tried.append(method)
        raise Busy("HTTP 503")

    def _answer(self, model, **_):
        self.tried.append(model.name)
        answer = self.answers[model.name]
        if isinstance(answer, dict):
            return SimpleNamespace(status_code=200), answer
        return SimpleNamespace(status_code=400), {"Error": {"Code": answer, "Message": ""}, **CONFLICT}


def marking():
    aws = Contention()
    documents = DynamoDocuments(aws.dynamodb, "t", None, backoff=aws.backoff(table.BACKOFF))
    return aws, lambda: documents.mark_indexed({"1": 2})


def counting():
    aws = Contention(BatchGetItem={"Responses": {}, "UnprocessedKeys": {}})
    documents = DynamoDocuments(aws.dynamodb, "t", None, backoff=aws.backoff(table.BACKOFF))
    return aws, lambda: documents.put([Document(Article("1", title="T"), "hash", 1)])


def reading():
    key = {"pmid": {"S": "1"}}
    aws = Contention(BatchGetItem={"Responses": {}, "UnprocessedKeys": {"t": {"Keys": [key]}}})
    of_keys = table.Table(aws.dynamodb, "t", "papers", aws.backoff(table.BACKOFF))
    return aws, lambda: of_keys.batch_get_items([{"pmid": "1"}], ["pmid"])


def advancing():
    aws = Contention()
    checkpoints = DynamoCheckpoints(aws.dynamodb, "t", backoff=aws.backoff(table.BACKOFF))
    return aws, lambda: checkpoints.advance("q", "term", "2024-05-01")


def cooling():
    aws = Contention(UpdateItem="ConditionalCheckFailedException")
    limiter = DynamoRateLimiter(aws.dynamodb, "t", "budget", 1.0, aws.clock, aws.clock.sleep)
    return aws, lambda: limiter.cool_down(60)


def announcing():
    aws = Contention()
    bus = EventBridgeAnnouncements(aws, "bus", aws.backoff(messages.BACKOFF))
    return aws, lambda: bus.publish([CorpusChange(ChangeKind.NEW, "1", 1)])


def indexing():
    aws = Contention()
    transport = OpenSearchTransport(aws, bulk_backoff=aws.backoff(BULK_BACKOFF))
    return aws, lambda: transport.write_bulk("/i/_bulk", ["1"], lambda ids: dict.fromkeys(ids, b"{}\n"))


LOOPS = {
    marking: table.BACKOFF,
    counting: table.BACKOFF,
    reading: table.BACKOFF,
    advancing: table.BACKOFF,
    cooling: rate_limit.BACKOFF,
    announcing: messages.BACKOFF,
    indexing: BULK_BACKOFF,
}


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_what_is_overtaken_each_time_is_given_up_after_its_tries(loop):
    aws, run = loop()
    with pytest.raises(Failure) as failed:
        run()
    assert failed.value.retryable
    assert len(aws.clock.pauses) == LOOPS[loop].tries - 1
    assert failed.value.details["tries"] == LOOPS[loop].tries


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_no_pause_outlasts_the_call(loop):
    aws, run = loop()
    short = LOOPS[loop].first_s * 4
    with bounded_by(Deadline(short, aws.clock)), pytest.raises(Failure):
        run()
    assert len(aws.tried) > 1
    assert 0 < aws.clock.now < short
