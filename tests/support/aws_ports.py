"""The ports that AWS keeps, over tables, queues and a bucket made from template.yaml, on moto or at any endpoint."""

import json
import time
from contextlib import ExitStack
from functools import cache, cached_property, partial
from threading import Lock
from uuid import uuid4

from moto import backend_index, mock_aws

from bio_mcp.adapters.aws.accounts import DynamoAuthorizations, DynamoBudgets, DynamoCalls
from bio_mcp.adapters.aws.answers import DynamoAnswers, DynamoCache
from bio_mcp.adapters.aws.blobs import S3Blobs
from bio_mcp.adapters.aws.clients import Clients
from bio_mcp.adapters.aws.dead_letters import SqsDeadLetters
from bio_mcp.adapters.aws.documents import DynamoDocuments
from bio_mcp.adapters.aws.graph import DynamoGraph
from bio_mcp.adapters.aws.messages import EventBridgeAnnouncements, SqsContinuations
from bio_mcp.adapters.aws.news import DynamoNews
from bio_mcp.adapters.aws.projects import DynamoProjectDocuments, DynamoProjects, DynamoScreenings
from bio_mcp.adapters.aws.rate_limit import DynamoRateLimiter
from bio_mcp.adapters.aws.state import DynamoAudit, DynamoCheckpoints, DynamoJobs, DynamoLeases
from bio_mcp.adapters.aws.table import item_key
from tests.support.aws_tables import make_queues, make_table

MOCKED = {"dynamodb", "events", "s3", "secretsmanager", "sqs", "ssm", "stepfunctions"}
backend_index.backend_url_patterns[:] = [each for each in backend_index.backend_url_patterns if each[0] in MOCKED]
"""Of 180 patterns these: moto tries one after another for each request, and makes seven objects of each at a start."""

NOBODY = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""The environment of somebody whom AWS does not know."""


@cache
def client(service, endpoint=None):
    """One client for all tests of a process: making one takes longer than most tests."""
    return Clients().make(service, endpoint=endpoint)


@cache
def one_at_a_time(made):
    """`made` with one request at a time: a transaction of moto copies tables, which other threads must not change."""
    lock = Lock()
    made.meta.events.register("before-call", lambda **_: lock.acquire() and None)
    for event in ("after-call", "after-call-error"):
        made.meta.events.register(event, lambda **_: lock.release())
    return made


class ListedAudit(DynamoAudit):
    """The log of changes, which tests read."""

    def entries(self):
        """Every change, oldest first."""
        items = sorted(self._table.scan(), key=lambda item: item["at"])
        return [
            {"caller": None, **item, "before": json.loads(item["before"]), "after": json.loads(item["after"])}
            for item in items
        ]


TABLED = {
    "documents": lambda own, table: DynamoDocuments(own.dynamodb, table, lambda: own.blobs, clock=own.clock),
    "checkpoints": lambda own, table: DynamoCheckpoints(own.dynamodb, table),
    "news": lambda own, table: DynamoNews(own.dynamodb, table, clock=own.clock),
    "jobs": lambda own, table: DynamoJobs(own.dynamodb, table, lambda: own.blobs),
    "leases": lambda own, table: DynamoLeases(own.dynamodb, table, clock=own.clock),
    "audit": lambda own, table: ListedAudit(own.dynamodb, table),
    "projects": lambda own, table: DynamoProjects(own.dynamodb, table),
    "project_documents": lambda own, table: DynamoProjectDocuments(own.dynamodb, table, lambda: own.blobs),
    "answers": lambda own, table: DynamoAnswers(own.dynamodb, table),
    "screenings": lambda own, table: DynamoScreenings(own.dynamodb, table, lambda: own.blobs),
    "calls": lambda own, table: DynamoCalls(own.dynamodb, table, lambda: own.blobs, 30, clock=own.clock),
    "authorizations": lambda own, table: DynamoAuthorizations(own.dynamodb, table, clock=own.clock),
    "budgets": lambda own, table: DynamoBudgets(own.dynamodb, table, clock=own.clock),
    "graph": lambda own, table: DynamoGraph(own.dynamodb, table),
    "cache": lambda own, table: DynamoCache(own.dynamodb, table, own.clock),
}
"""Ports over one table, named after the port."""


def put_unsent(sqs, queues, sender, queue, body, **more):
    """Put a letter as EventBridge (RULE_ARN) or its Scheduler (SCHEDULE_ARN) does where it could not send to `queue`,
    with the attributes that AWS documents:
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/configuring-schedule-dlq.html
    """
    found = sqs.get_queue_attributes(QueueUrl=queues[queue], AttributeNames=["QueueArn"])["Attributes"]
    given = {
        sender: "arn:aws:scheduler:us-east-1:123456789012:schedule/default/nightly",
        "TARGET_ARN": found["QueueArn"],
        "ERROR_CODE": "AccessDenied",
        "ERROR_MESSAGE": "is not authorized to perform: sqs:SendMessage",
        "EXHAUSTED_RETRY_CONDITION": "MaximumRetryAttempts",
        "RETRY_ATTEMPTS": "10",
        **more,
    }
    attributes = {name: {"DataType": "String", "StringValue": value} for name, value in given.items()}
    sqs.send_message(QueueUrl=queues["DeadLetters"], MessageBody=body, MessageAttributes=attributes)


class AwsPorts:
    """Each port is made on first use, over a table of its own from the template; `prefix` keeps users apart.

    The environment must hold `NOBODY`.
    """

    gives = frozenset({*TABLED, *"announcements blobs continuations dead_letters old_versions pacers resolve".split()})
    many = 450  # PMIDs that are looked up at once in a test
    page = 100  # nodes of the graph that are read at once

    def __init__(self, clock=time.time, endpoint=None, prefix=None):
        self.clock = clock
        self.endpoint = endpoint
        self.prefix = prefix or f"t{uuid4().hex[:12]}"

    @cached_property
    def dynamodb(self):
        made = client("dynamodb", self.endpoint)
        return made if self.endpoint else one_at_a_time(made)

    def table(self, name):
        return make_table(self.dynamodb, name, self.prefix)

    def __getattr__(self, name):
        if name not in TABLED:
            raise AttributeError(name)
        made = TABLED[name](self, self.table(f"{name.title().replace('_', '')}Table"))
        self.__dict__[name] = made
        return made

    def put_news(self, query_key, position):
        """Enter news as an earlier version did."""
        self.news._table.put_item(item_key(f"news {query_key}", position))

    @property
    def resolve(self):
        return self.documents.resolve

    @cached_property
    def pace_table(self):
        return self.table("PaceTable")

    def pacer(self, budget, gap, clock, sleep):
        """Another process's pacer over the same table."""
        return DynamoRateLimiter(self.dynamodb, self.pace_table, budget, gap, clock, sleep)

    @cached_property
    def blobs(self):
        bucket = f"{self.prefix}-bucket"
        client("s3", self.endpoint).create_bucket(Bucket=bucket)
        return S3Blobs(client("s3", self.endpoint), bucket)

    @cached_property
    def queues(self):
        return make_queues(client("sqs", self.endpoint), self.prefix, receives=3)

    @cached_property
    def continuations(self):
        return SqsContinuations(client("sqs", self.endpoint), self.queues["WorkQueue"], backoff_s=0)

    @cached_property
    def dead_letters(self):
        queues = {"work": self.queues["WorkQueue"], "ingest": self.queues["IngestQueue"]}
        connect = partial(client, endpoint=self.endpoint)
        return SqsDeadLetters(client("sqs", self.endpoint), self.queues["DeadLetters"], queues, connect, wait_s=0)

    def give_up(self, event):
        """Make a dead letter of `event`: by its queue; on moto, whose letters name none, as one that was not sent."""
        if self.endpoint:
            self.continuations.send(event)
            while message := self.continuations.receive(60):
                self.continuations.fail(message[0], "NCBI is away", wait_s=0)
        else:
            request = json.dumps({"MessageBody": json.dumps(event)})
            put_unsent(client("sqs"), self.queues, "SCHEDULE_ARN", "WorkQueue", request)

    @cached_property
    def announcements(self):
        """On a bus of their own, one of whose rules hands everything of ours to a queue."""
        events, sqs = client("events", self.endpoint), client("sqs", self.endpoint)
        events.create_event_bus(Name=self.prefix)
        self.ears = sqs.create_queue(QueueName=f"{self.prefix}-ears")["QueueUrl"]
        found = sqs.get_queue_attributes(QueueUrl=self.ears, AttributeNames=["QueueArn"])["Attributes"]
        pattern = json.dumps({"source": ["bio-mcp"]})
        events.put_rule(Name=self.prefix, EventBusName=self.prefix, EventPattern=pattern)
        target = {"Id": "ears", "Arn": found["QueueArn"]}
        events.put_targets(Rule=self.prefix, EventBusName=self.prefix, Targets=[target])
        return EventBridgeAnnouncements(events, self.prefix)

    def heard(self):
        """(kind, PMID) of what was announced, in any order."""
        heard = []
        while (
            messages := client("sqs", self.endpoint)
            .receive_message(QueueUrl=self.ears, MaxNumberOfMessages=10)
            .get("Messages")
        ):
            events = [json.loads(each["Body"]) for each in messages]
            heard += [(each["detail-type"].removeprefix("corpus."), each["detail"]["pmid"]) for each in events]
        return heard

    def dead(self):
        """The events that were given up."""
        found = client("sqs", self.endpoint).receive_message(QueueUrl=self.queues["DeadLetters"])
        return [json.loads(each["Body"]) for each in found.get("Messages", [])]

    def close(self):
        """Nothing is kept open."""


class MotoPorts(AwsPorts):
    """The same in this process, in memory."""

    def __init__(self, clock=time.time):
        self._opened = ExitStack()
        self._opened.enter_context(mock_aws())
        super().__init__(clock)

    def close(self):
        self._opened.close()
