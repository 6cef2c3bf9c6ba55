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


UNREAD = {"Responses": {}, "UnprocessedKeys": {}}
ONE = {"pmid": {"S": "1"}}


def documents(aws):
    return DynamoDocuments(aws.dynamodb, "t", None, backoff=aws.backoff(table.BACKOFF))


def advance(aws):
    return DynamoCheckpoints(aws.dynamodb, "t", backoff=aws.backoff(table.BACKOFF)).advance("q", "term", "2024-05-01")


def announce(aws):
    bus = EventBridgeAnnouncements(aws, "bus", aws.backoff(messages.BACKOFF))
    return bus.publish([CorpusChange(ChangeKind.NEW, "1", 1)])


def index(aws):
    transport = OpenSearchTransport(aws, bulk_backoff=aws.backoff(BULK_BACKOFF))
    return transport.write_bulk("/i/_bulk", ["1"], lambda ids: dict.fromkeys(ids, b"{}\n"))


LOOPS = {
    "marking": (table.BACKOFF, {}, lambda aws: documents(aws).mark_indexed({"1": 2})),
    "counting": (
        table.BACKOFF,
        {"BatchGetItem": UNREAD},
        lambda aws: documents(aws).put([Document(Article("1", title="T"), "hash", 1)]),
    ),
    "reading": (
        table.BACKOFF,
        {"BatchGetItem": UNREAD | {"UnprocessedKeys": {"t": {"Keys": [ONE]}}}},
        lambda aws: table.Table(aws.dynamodb, "t", "papers", aws.backoff(table.BACKOFF)).batch_get_items(
            [{"pmid": "1"}], ["pmid"]
        ),
    ),
    "advancing": (table.BACKOFF, {}, advance),
    "cooling": (
        rate_limit.BACKOFF,
        {"UpdateItem": "ConditionalCheckFailedException"},
        lambda aws: DynamoRateLimiter(aws.dynamodb, "t", "b", 1.0, aws.clock, aws.clock.sleep).cool_down(60),
    ),
    "announcing": (messages.BACKOFF, {}, announce),
    "indexing": (BULK_BACKOFF, {}, index),
}


@pytest.mark.parametrize(("backoff", "answers", "run"), LOOPS.values(), ids=LOOPS)
def test_what_is_overtaken_each_time_is_given_up_after_its_tries_and_no_pause_outlasts_the_call(backoff, answers, run):
    aws = Contention(**answers)
    with pytest.raises(Failure) as failed:
        run(aws)
    assert failed.value.retryable
    assert len(aws.clock.pauses) == backoff.tries - 1
    assert failed.value.details["tries"] == backoff.tries
    aws, short = Contention(**answers), backoff.first_s * 4
    with bounded_by(Deadline(short, aws.clock)), pytest.raises(Failure):
        run(aws)
    assert len(aws.tried) > 1
    assert 0 < aws.clock.now < short
