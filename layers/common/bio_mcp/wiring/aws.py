"""The backends on AWS: DynamoDB, S3, SQS, EventBridge and OpenSearch."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bio_mcp.errors import Misconfigured
from bio_mcp.health import Finding, examine
from bio_mcp.lazy import lazily
from bio_mcp.settings import Settings
from bio_mcp.wiring import opensearch
from bio_mcp.wiring.embedding import multilingual, multilingual_checks
from bio_mcp.wiring.limits import limits
from bio_mcp.wiring.published_index import PublishedIndex
from bio_mcp.wiring.shared import Shared

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.clients import Clients
    from bio_mcp.adapters.aws.queue import SqsContinuations
    from bio_mcp.metering import Limits
    from bio_mcp.ports.answers import Answers
    from bio_mcp.ports.authorizations import Authorizations
    from bio_mcp.ports.budgets import Budgets
    from bio_mcp.ports.cache import Cache
    from bio_mcp.ports.calls import Calls, Recorder
    from bio_mcp.ports.graph import Graph
    from bio_mcp.ports.indexes import Indexes
    from bio_mcp.ports.loading import LoadFiles, LoadRuns
    from bio_mcp.ports.messages import Announcements
    from bio_mcp.ports.multilingual import Multilingual
    from bio_mcp.ports.ncbi import RateLimiter
    from bio_mcp.ports.news import News
    from bio_mcp.ports.projects import Collections, ProjectDocuments, Projects
    from bio_mcp.ports.screening import Screenings
    from bio_mcp.ports.state import Audit, Checkpoints, Jobs, Leases
    from bio_mcp.ports.stores import Blobs, Documents, Embeddings, Passages
    from bio_mcp.wiring.embedded import Scratch


class Aws(Shared):
    """Each backend is made on first use from the settings that name it, and imports only what it needs: a function is
    configured for, and loads, only what its own tools use. Raises `Misconfigured` that names a missing setting.

    AWS's own library reads region, credentials and, for an emulator, `AWS_ENDPOINT_URL`.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            settings, rate_limiter=self._rate_limiter, turns=self._turns, cache=self._cache_table, bus=self._bus
        )

    @lazily
    def documents(self) -> "Documents":
        from bio_mcp.adapters.aws.documents import DynamoDocuments
        from bio_mcp.literature import serial

        table = self.settings.needed("table_documents")
        return DynamoDocuments(self._dynamodb, table, lambda: self.blobs, serial)

    @lazily
    def indexes(self) -> "Indexes":
        return self._published.indexes if self._in_s3 else opensearch.indexes(self.settings)

    @lazily
    def multilingual(self) -> "Multilingual | None":
        return multilingual(self.settings, self._multilingual_passages)

    def _multilingual_passages(self) -> "Passages":
        """An index of a name that the policies of the corpus' own allow."""
        if self._in_s3:
            return self._published.multilingual
        return opensearch.passages(self.settings, f"{self.settings.index_name}-multilingual")

    @lazily
    def checkpoints(self) -> "Checkpoints":
        from bio_mcp.adapters.aws.checkpoints import DynamoCheckpoints

        return DynamoCheckpoints(self._dynamodb, self.settings.needed("table_checkpoints"))

    @lazily
    def news(self) -> "News":
        from bio_mcp.adapters.aws.news import DynamoNews

        return DynamoNews(self._dynamodb, self.settings.needed("table_news"))

    @lazily
    def jobs(self) -> "Jobs":
        from bio_mcp.adapters.aws.jobs import DynamoJobs

        return DynamoJobs(self._dynamodb, self.settings.needed("table_jobs"), lambda: self.blobs)

    @lazily
    def leases(self) -> "Leases":
        from bio_mcp.adapters.aws.leases import DynamoLeases

        return DynamoLeases(self._dynamodb, self.settings.needed("table_leases"))

    @lazily
    def continuations(self) -> "SqsContinuations":
        from bio_mcp.adapters.aws.queue import SqsContinuations

        return SqsContinuations(self._sqs, self.settings.needed("queue_url"), self._queues_of_tools())

    def _queues_of_tools(self) -> dict[str, str]:
        named = {"ingest_from_source": self.settings.ingest_queue_url, "ingest.run": self.settings.ingest_queue_url}
        named |= {"eval.run": self.settings.evaluate_queue_url, "exportPapers": self.settings.export_queue_url}
        return {tool: url for tool, url in named.items() if url}

    @lazily
    def audit(self) -> "Audit":
        from bio_mcp.adapters.aws.audit import DynamoAudit

        return DynamoAudit(self._dynamodb, self.settings.needed("table_audit"))

    @lazily
    def answers(self) -> "Answers":
        from bio_mcp.adapters.aws.answers import DynamoAnswers

        return DynamoAnswers(self._dynamodb, self.settings.needed("table_answers"))

    @lazily
    def screenings(self) -> "Screenings":
        from bio_mcp.adapters.aws.screenings import DynamoScreenings

        return DynamoScreenings(self._dynamodb, self.settings.needed("table_screenings"), lambda: self.blobs)

    @lazily
    def authorizations(self) -> "Authorizations":
        from bio_mcp.adapters.aws.authorizations import DynamoAuthorizations

        return DynamoAuthorizations(self._dynamodb, self.settings.needed("table_authorizations"))

    @lazily
    def budgets(self) -> "Budgets":
        from bio_mcp.adapters.aws.budgets import DynamoBudgets

        return DynamoBudgets(self._dynamodb, self.settings.needed("table_budgets"))

    @lazily
    def limits(self) -> "Limits | None":
        """What callers may use; None where no table has what they have used."""
        return limits(self.settings, self.budgets) if self.settings.table_budgets else None

    @lazily
    def graph(self) -> "Graph":
        from bio_mcp.adapters.aws.graph import DynamoGraph

        return DynamoGraph(self._dynamodb, self.settings.needed("table_graph"))

    @lazily
    def calls(self) -> "Calls":
        from bio_mcp.adapters.aws.calls import DynamoCalls

        to = self.settings
        return DynamoCalls(self._dynamodb, to.needed("table_calls"), lambda: self.blobs, to.calls_days)

    @lazily
    def recorder(self) -> "Recorder | None":
        """Records calls before they are answered, as a function stands still afterwards; None where none is stored."""
        from bio_mcp.replaying.recorder import CallRecorder

        to = self.settings
        return CallRecorder(lambda: self.calls, background=False) if to.table_calls and to.calls_days else None

    @lazily
    def blobs(self) -> "Blobs":
        from bio_mcp.adapters.aws.blobs import S3Blobs

        return S3Blobs(self._s3, self.settings.needed("bucket"))

    @lazily
    def load_files(self) -> "LoadFiles":
        from bio_mcp.adapters.aws.load_files import S3LoadFiles

        return S3LoadFiles(self._s3, self.settings.needed("bucket"))

    @lazily
    def load_runs(self) -> "LoadRuns":
        from bio_mcp.adapters.aws.load_runs import StepFunctionsRuns

        return StepFunctionsRuns(self._connect("stepfunctions"), self.settings.needed("load_machine"))

    @lazily
    def projects(self) -> "Projects":
        from bio_mcp.adapters.aws.projects import DynamoProjects

        return DynamoProjects(self._dynamodb, self.settings.needed("table_projects"))

    @lazily
    def collections(self) -> "Collections":
        if self._in_s3:
            return self._published.collections
        return opensearch.collections(self.settings)

    @property
    def _in_s3(self) -> bool:
        return self.settings.index_tier == "s3"

    @lazily
    def _published(self) -> PublishedIndex:
        return PublishedIndex(self.settings, lambda: self._s3, lambda: self.leases, self._opened)

    @lazily
    def project_documents(self) -> "ProjectDocuments":
        from bio_mcp.adapters.aws.project_documents import DynamoProjectDocuments

        table = self.settings.needed("table_project_documents")
        return DynamoProjectDocuments(self._dynamodb, table, lambda: self.blobs)

    @contextmanager
    def scratch(self, name: str, model: "Embeddings | None" = None) -> "Iterator[Scratch]":
        """It is in the temporary directory of this process, and so of this function's instance."""
        from bio_mcp.wiring.embedded import Scratch

        with closing(Scratch(self, Path(tempfile.gettempdir()) / "bio-mcp-scratch", name, model)) as made:
            yield made

    def checks(self) -> Sequence[Finding]:
        """Check the tables, the queues, the bucket, the event bus and the room for projects."""
        from bio_mcp.adapters.aws import inspection

        named = self.settings.needed
        queues = {"ingest queue": self.settings.ingest_queue_url, "evaluate queue": self.settings.evaluate_queue_url}
        queues |= {"export queue": self.settings.export_queue_url}
        return [
            examine("tables", lambda: inspection.tables(self._dynamodb, self._tables(inspection.KEYS))),
            examine("queue", lambda: inspection.queue(self._sqs, named("queue_url"))),
            *(examine(name, partial(inspection.queue, self._sqs, url)) for name, url in queues.items() if url),
            examine("bucket", lambda: inspection.bucket(self._s3, named("bucket"))),
            examine("event bus", lambda: inspection.bus(self._events, named("event_bus"))),
            *multilingual_checks(self, self.settings),
            *self.zotero_checks(),
            *self._checks_of_index(),
        ]

    def _checks_of_index(self) -> Sequence[Finding]:
        if self._in_s3:
            return self._published.checks()
        return opensearch.checks(lambda: self.indexes, lambda: self.collections)

    def _tables(self, kinds: Iterable[str]) -> dict[str, str]:
        unused = {"cache"} if self.settings.cache == "off" else set()
        return {kind: self.settings.needed(f"table_{kind}") for kind in kinds if kind not in unused}

    @lazily
    def _clients(self) -> "Clients":
        try:
            from bio_mcp.adapters.aws.clients import Clients
        except ModuleNotFoundError:
            raise Misconfigured("mode aws takes boto3; install the extra aws, as docs/runbook.md says") from None
        return Clients()

    @lazily
    def _dynamodb(self) -> Any:
        return self._connect("dynamodb")

    @lazily
    def _sqs(self) -> Any:
        return self._connect("sqs")

    @lazily
    def _s3(self) -> Any:
        return self._connect("s3")

    @lazily
    def _events(self) -> Any:
        return self._connect("events")

    def _connect(self, service: str, **options: Any) -> Any:
        made = self._clients.make(service, **options)
        self._opened.callback(made.close)
        return made

    def _cache_table(self) -> "Cache":
        table = self.settings.needed("table_cache")
        from bio_mcp.adapters.aws.cache import IMPATIENT, DynamoCache

        return DynamoCache(self._connect("dynamodb", config=IMPATIENT), table)

    def _bus(self) -> "Announcements":
        from bio_mcp.adapters.aws.announcements import EventBridgeAnnouncements

        return EventBridgeAnnouncements(self._events, self.settings.needed("event_bus"))

    def _rate_limiter(self) -> "RateLimiter":
        from bio_mcp.adapters.aws.rate_limit import DynamoRateLimiter
        from bio_mcp.adapters.rate_limit import budget_of, fleet_gap_s

        to, key = self.settings, self.ncbi_key
        budget, gap = budget_of(key() if key else None), fleet_gap_s(key is not None, to.ncbi_delay_ms)
        return DynamoRateLimiter(self._dynamodb, to.needed("table_pace"), budget, gap)

    def _turns(self, budget: str, gap_s: float) -> "RateLimiter":
        from bio_mcp.adapters.aws.rate_limit import DynamoRateLimiter

        return DynamoRateLimiter(self._dynamodb, self.settings.needed("table_pace"), budget, gap_s)
