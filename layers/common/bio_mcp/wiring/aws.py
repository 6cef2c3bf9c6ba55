"""The backends on AWS: DynamoDB, S3, SQS, EventBridge and OpenSearch."""

import tempfile
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from bio_mcp.health import Finding, examine
from bio_mcp.ports import port
from bio_mcp.recording import CallRecorder
from bio_mcp.settings import Settings
from bio_mcp.wiring import indexes
from bio_mcp.wiring.embedded import scratch
from bio_mcp.wiring.mode import Mode, Row, Table, load, load_from_aws
from bio_mcp.wiring.services import SHARED, limits, zotero_checks

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.s3_index import PublishedDatabase


def _dynamodb(path: str, table: str, *settings: str) -> Row:
    """A store in the table that a setting names, "module:Class", made with these settings."""
    return lambda own: load(path)(
        own.dynamodb,
        own.settings.needed(table),
        lambda: own.blobs,
        *(getattr(own.settings, name) for name in settings),
    )


def _queues(own: "Aws") -> Any:
    to = own.settings
    named = {"ingest_from_source": to.ingest_queue_url, "ingest.run": to.ingest_queue_url}
    named |= {"eval.run": to.evaluate_queue_url, "exportPapers": to.export_queue_url}
    of_tools = {tool: url for tool, url in named.items() if url}
    return load("bio_mcp.adapters.aws.messages:SqsContinuations")(own.sqs, to.needed("queue_url"), of_tools)


def _dead_letters(own: "Aws") -> Any:
    to = own.settings
    queues = {"work": to.queue_url, "ingest": to.ingest_queue_url}
    queues |= {"evaluate": to.evaluate_queue_url, "export": to.export_queue_url}
    letters = load("bio_mcp.adapters.aws.dead_letters:SqsDeadLetters")
    return letters(
        own.sqs, to.needed("dead_letters_url"), {name: url for name, url in queues.items() if url}, own.connect
    )


def _cache(own: "Aws") -> Any:
    if own.settings.cache == "off":
        return None
    table = own.settings.needed("table_cache")
    from bio_mcp.adapters.aws.answers import IMPATIENT, DynamoCache

    return DynamoCache(own.connect("dynamodb", config=IMPATIENT), table)


def _pace(own: "Aws", budget: str, gap_s: float) -> Any:
    limiter = load("bio_mcp.adapters.aws.rate_limit:DynamoRateLimiter")
    return limiter(own.dynamodb, own.settings.needed("table_pace"), budget, gap_s)


def _rate_limiter(own: "Aws") -> Any:
    from bio_mcp.adapters.rate_limit import budget_of, fleet_gap_s

    key = own.ncbi_key
    return _pace(own, budget_of(key() if key else None), fleet_gap_s(key is not None, own.settings.ncbi_delay_ms))


def _checks(own: Any) -> list[Finding]:
    """Check the tables, the queues, the bucket, the event bus and the room for projects."""
    from bio_mcp.adapters.aws import inspection

    to = own.settings
    unused = {"cache"} if to.cache == "off" else set()
    queues = {"ingest queue": to.ingest_queue_url, "evaluate queue": to.evaluate_queue_url}
    queues |= {"export queue": to.export_queue_url}

    def tables() -> Finding:
        names = {kind: to.needed(f"table_{kind}") for kind in inspection.KEYS if kind not in unused}
        return inspection.tables(own.dynamodb, names)

    return [
        examine("tables", tables),
        examine("queue", lambda: inspection.queue(own.sqs, to.needed("queue_url"))),
        *(examine(name, partial(inspection.queue, own.sqs, url)) for name, url in queues.items() if url),
        examine("bucket", lambda: inspection.bucket(own.s3, to.needed("bucket"))),
        examine("event bus", lambda: inspection.bus(own.events, to.needed("event_bus"))),
        *zotero_checks(own),
        examine("index", lambda: own.indexes.inspect()),
        examine("projects", lambda: (own.published_projects if own.in_s3 else own.collections).inspect()),
    ]


TABLE: Table = {
    **SHARED,
    "checks": lambda own: partial(_checks, own),
    "scratch": lambda own: partial(scratch, own, Path(tempfile.gettempdir()) / "bio-mcp-scratch"),
    "documents": _dynamodb("bio_mcp.adapters.aws.documents:DynamoDocuments", "table_documents"),
    "indexes": lambda own: indexes.published_indexes(own) if own.in_s3 else indexes.indexes(own.settings),
    "collections": lambda own: (
        load("bio_mcp.adapters.embedded.collections:SqliteCollections")(own.published_projects)
        if own.in_s3
        else indexes.collections(own.settings)
    ),
    "published_projects": indexes.published_projects,
    # The directory of this process for copies of indexes in S3, which is deleted at the end.
    "copies": lambda own: own.opened.enter_context(load("bio_mcp.adapters.aws.s3_index:private_directory")()),
    "checkpoints": _dynamodb("bio_mcp.adapters.aws.state:DynamoCheckpoints", "table_checkpoints"),
    "news": _dynamodb("bio_mcp.adapters.aws.news:DynamoNews", "table_news"),
    "jobs": _dynamodb("bio_mcp.adapters.aws.state:DynamoJobs", "table_jobs"),
    "leases": _dynamodb("bio_mcp.adapters.aws.state:DynamoLeases", "table_leases"),
    "continuations": _queues,
    "dead_letters": _dead_letters,
    "audit": _dynamodb("bio_mcp.adapters.aws.state:DynamoAudit", "table_audit"),
    "answers": _dynamodb("bio_mcp.adapters.aws.answers:DynamoAnswers", "table_answers"),
    "screenings": _dynamodb("bio_mcp.adapters.aws.projects:DynamoScreenings", "table_screenings"),
    "projects": _dynamodb("bio_mcp.adapters.aws.projects:DynamoProjects", "table_projects"),
    "project_documents": _dynamodb("bio_mcp.adapters.aws.projects:DynamoProjectDocuments", "table_project_documents"),
    "graph": _dynamodb("bio_mcp.adapters.aws.graph:DynamoGraph", "table_graph"),
    "authorizations": _dynamodb("bio_mcp.adapters.aws.accounts:DynamoAuthorizations", "table_authorizations"),
    "budgets": _dynamodb("bio_mcp.adapters.aws.accounts:DynamoBudgets", "table_budgets"),
    "limits": lambda own: limits(own.settings, own.budgets) if own.settings.table_budgets else None,
    "calls": _dynamodb("bio_mcp.adapters.aws.accounts:DynamoCalls", "table_calls", "calls_days"),
    # Calls are recorded before they are answered, as a function stands still afterwards.
    "recorder": lambda own: (
        CallRecorder(lambda: own.calls, background=False)
        if own.settings.table_calls and own.settings.calls_days
        else None
    ),
    "blobs": lambda own: load("bio_mcp.adapters.aws.blobs:S3Blobs")(own.s3, own.settings.needed("bucket")),
    "load_files": lambda own: load("bio_mcp.adapters.aws.loading:S3LoadFiles")(own.s3, own.settings.needed("bucket")),
    "load_runs": lambda own: load("bio_mcp.adapters.aws.loading:StepFunctionsRuns")(
        own.connect("stepfunctions"), own.settings.needed("load_machine")
    ),
    "rate_limiter": _rate_limiter,
    "turns": lambda own: partial(_pace, own),
    "cache": _cache,
    "bus": lambda own: load("bio_mcp.adapters.aws.messages:EventBridgeAnnouncements")(
        own.events, own.settings.needed("event_bus")
    ),
    "clients": lambda _own: load_from_aws("bio_mcp.adapters.aws.clients:Clients", "mode aws")(),
    **{service: methodcaller("connect", service) for service in ("dynamodb", "sqs", "s3", "events")},
}


class Aws(Mode):
    """Each port is made from the settings that name it: a function is configured for what its own tools use. Raises
    `Misconfigured` that names a missing setting.

    AWS's own library reads region, credentials and, for an emulator, `AWS_ENDPOINT_URL`.
    """

    TABLE: ClassVar[Table] = TABLE
    published_projects: "port[PublishedDatabase]" = port("The file of the projects' indexes in S3.")
    copies = port[Path]("A directory for copies of indexes in S3.")
    clients = port[Any]("Makes clients of AWS's services.")
    dynamodb, sqs, s3, events = port[Any]("A client."), port[Any]("A client."), port[Any]("A client."), port[Any]("")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.in_s3 = settings.index_tier == "s3"

    def connect(self, service: str, **options: Any) -> Any:
        """A client of a service of AWS, which is closed at the end."""
        return self.closing(self.clients.make(service, **options))
