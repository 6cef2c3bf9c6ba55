"""The ports that AWS keeps, over tables, queues and a bucket made from template.yaml, on moto or at any endpoint."""

import json
import time
from contextlib import ExitStack
from functools import cache, cached_property
from threading import Lock
from uuid import uuid4

from moto import mock_aws

from bio_mcp.adapters.aws.accounts import DynamoAuthorizations, DynamoBudgets, DynamoCalls
from bio_mcp.adapters.aws.answers import DynamoAnswers, DynamoCache
from bio_mcp.adapters.aws.blobs import S3Blobs
from bio_mcp.adapters.aws.clients import Clients
from bio_mcp.adapters.aws.documents import DynamoDocuments
from bio_mcp.adapters.aws.graph import DynamoGraph
from bio_mcp.adapters.aws.messages import EventBridgeAnnouncements, SqsContinuations
from bio_mcp.adapters.aws.news import DynamoNews
from bio_mcp.adapters.aws.projects import DynamoProjectDocuments, DynamoProjects, DynamoScreenings
from bio_mcp.adapters.aws.rate_limit import DynamoRateLimiter
from bio_mcp.adapters.aws.state import DynamoAudit, DynamoCheckpoints, DynamoJobs, DynamoLeases
from tests.support.aws_tables import make_queues, make_table

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


class AwsPorts:
    """Each port is made on first use, over a table of its own from the template; `prefix` keeps users apart.

    The environment must hold `NOBODY`.
    """

    gives = frozenset(
        {
            "announcements",
            "answers",
            "audit",
            "authorizations",
            "blobs",
            "budgets",
            "cache",
            "calls",
            "checkpoints",
            "continuations",
            "documents",
            "graph",
            "jobs",
            "leases",
            "news",
            "old_versions",
            "pacers",
            "project_documents",
            "projects",
            "resolve",
            "screenings",
        }
    )
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

    @cached_property
    def documents(self):
        table = self.table("DocumentsTable")
        return DynamoDocuments(self.dynamodb, table, lambda: self.blobs, clock=self.clock)

    @property
    def resolve(self):
        return self.documents.resolve

    @cached_property
    def checkpoints(self):
        return DynamoCheckpoints(self.dynamodb, self.table("CheckpointsTable"))

    @cached_property
    def news(self):
        return DynamoNews(self.dynamodb, self.table("NewsTable"), clock=self.clock)

    @cached_property
    def jobs(self):
        return DynamoJobs(self.dynamodb, self.table("JobsTable"), lambda: self.blobs)

    @cached_property
    def leases(self):
        return DynamoLeases(self.dynamodb, self.table("LeasesTable"), clock=self.clock)

    @cached_property
    def audit(self):
        return DynamoAudit(self.dynamodb, self.table("AuditTable"))

    @cached_property
    def projects(self):
        return DynamoProjects(self.dynamodb, self.table("ProjectsTable"))

    @cached_property
    def project_documents(self):
        return DynamoProjectDocuments(self.dynamodb, self.table("ProjectDocumentsTable"), lambda: self.blobs)

    @cached_property
    def answers(self):
        return DynamoAnswers(self.dynamodb, self.table("AnswersTable"))

    @cached_property
    def screenings(self):
        return DynamoScreenings(self.dynamodb, self.table("ScreeningsTable"), lambda: self.blobs)

    @cached_property
    def calls(self):
        return DynamoCalls(self.dynamodb, self.table("CallsTable"), lambda: self.blobs, 30, clock=self.clock)

    @cached_property
    def authorizations(self):
        return DynamoAuthorizations(self.dynamodb, self.table("AuthorizationsTable"), clock=self.clock)

    @cached_property
    def budgets(self):
        return DynamoBudgets(self.dynamodb, self.table("BudgetsTable"), clock=self.clock)

    @cached_property
    def graph(self):
        return DynamoGraph(self.dynamodb, self.table("GraphTable"))

    @cached_property
    def cache(self):
        return DynamoCache(self.dynamodb, self.table("CacheTable"), self.clock)

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
