"""The backends on one machine."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bio_mcp.health import Finding, examine
from bio_mcp.lazy import lazily
from bio_mcp.settings import Settings
from bio_mcp.wiring import opensearch
from bio_mcp.wiring.embedding import multilingual, multilingual_checks
from bio_mcp.wiring.indexes import corpus_indexes, index_file_checks, passages_in
from bio_mcp.wiring.limits import limits
from bio_mcp.wiring.shared import Shared

if TYPE_CHECKING:
    from bio_mcp.adapters.embedded.continuations import SqliteContinuations
    from bio_mcp.adapters.embedded.database import Database
    from bio_mcp.adapters.embedded.integrity import Integrity
    from bio_mcp.metering import Limits
    from bio_mcp.ports.answers import Answers
    from bio_mcp.ports.authorizations import Authorizations
    from bio_mcp.ports.budgets import Budgets
    from bio_mcp.ports.cache import Cache
    from bio_mcp.ports.calls import Calls, Recorder
    from bio_mcp.ports.graph import Graph
    from bio_mcp.ports.indexes import Indexes
    from bio_mcp.ports.language_models import LanguageModel
    from bio_mcp.ports.messages import Announcements
    from bio_mcp.ports.multilingual import Multilingual
    from bio_mcp.ports.ncbi import RateLimiter
    from bio_mcp.ports.news import News
    from bio_mcp.ports.projects import Collections, ProjectDocuments, Projects
    from bio_mcp.ports.screening import Screenings
    from bio_mcp.ports.state import Audit, Checkpoints, Jobs, Leases
    from bio_mcp.ports.stores import Blobs, Documents, Embeddings, Passages


class Embedded(Shared):
    """The corpus in one SQLite file and an index in memory, or in an OpenSearch that the settings name."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            settings, rate_limiter=self._rate_limiter, turns=self._turns, cache=self._cache_file, bus=self._bus
        )
        self._closed_first = ExitStack()

    @lazily
    def database(self) -> "Database":
        from bio_mcp.adapters.embedded.database import Database

        database = Database(self.settings.home.expanduser())
        self._opened.callback(database.close)
        return database

    @lazily
    def documents(self) -> "Documents":
        from bio_mcp.adapters.embedded.documents import SqliteDocuments
        from bio_mcp.literature import serial

        return SqliteDocuments(self.database, serial)

    @lazily
    def indexes(self) -> "Indexes":
        if self.settings.opensearch_url:
            return opensearch.indexes(self.settings)
        return corpus_indexes(self.database, self._opened)

    @lazily
    def multilingual(self) -> "Multilingual | None":
        return multilingual(self.settings, self._multilingual_passages)

    def _multilingual_passages(self) -> "Passages":
        """An index in a corpus file of its own, which may be deleted: `bio-mcp reindex` makes it again."""
        from bio_mcp.adapters.embedded.database import Database

        database = Database(self.settings.home.expanduser() / "multilingual")
        self._opened.callback(database.close)
        return passages_in(database)

    @lazily
    def checkpoints(self) -> "Checkpoints":
        from bio_mcp.adapters.embedded.checkpoints import SqliteCheckpoints

        return SqliteCheckpoints(self.database)

    @lazily
    def news(self) -> "News":
        from bio_mcp.adapters.embedded.news import SqliteNews

        return SqliteNews(self.database)

    @lazily
    def jobs(self) -> "Jobs":
        from bio_mcp.adapters.embedded.jobs import SqliteJobs

        return SqliteJobs(self.database)

    @lazily
    def leases(self) -> "Leases":
        from bio_mcp.adapters.embedded.leases import SqliteLeases

        return SqliteLeases(self.database)

    @lazily
    def continuations(self) -> "SqliteContinuations":
        from bio_mcp.adapters.embedded.continuations import SqliteContinuations

        return SqliteContinuations(self.database)

    @lazily
    def audit(self) -> "Audit":
        from bio_mcp.adapters.embedded.audit import SqliteAudit

        return SqliteAudit(self.database)

    @lazily
    def answers(self) -> "Answers":
        from bio_mcp.adapters.embedded.answers import SqliteAnswers

        return SqliteAnswers(self.database)

    @lazily
    def screenings(self) -> "Screenings":
        from bio_mcp.adapters.embedded.screenings import SqliteScreenings

        return SqliteScreenings(self.database)

    @lazily
    def blobs(self) -> "Blobs":
        from bio_mcp.adapters.embedded.blobs import DirectoryBlobs

        return DirectoryBlobs(self.settings.home.expanduser() / "blobs")

    @lazily
    def projects(self) -> "Projects":
        from bio_mcp.adapters.embedded.projects import SqliteProjects

        return SqliteProjects(self.database)

    @lazily
    def collections(self) -> "Collections":
        if self.settings.opensearch_url:
            return opensearch.collections(self.settings)
        from bio_mcp.adapters.embedded.collections import SqliteCollections
        from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

        return SqliteCollections(self.database, k1=BM25_K1, b=BM25_B)

    @lazily
    def project_documents(self) -> "ProjectDocuments":
        from bio_mcp.adapters.embedded.project_documents import SqliteProjectDocuments

        return SqliteProjectDocuments(self.database)

    @lazily
    def graph(self) -> "Graph":
        from bio_mcp.adapters.embedded.graph import SqliteGraph

        return SqliteGraph(self.database)

    @contextmanager
    def scratch(self, name: str, model: "Embeddings | None" = None) -> "Iterator[Scratch]":
        with closing(Scratch(self, self.settings.home.expanduser() / "scratch", name, model)) as made:
            yield made

    @lazily
    def budgets(self) -> "Budgets":
        from bio_mcp.adapters.embedded.budgets import SqliteBudgets

        budgets = SqliteBudgets(self.settings.home.expanduser())
        self._opened.callback(budgets.close)
        return budgets

    @lazily
    def limits(self) -> "Limits":
        """What callers may use."""
        return limits(self.settings, self.budgets)

    @lazily
    def calls(self) -> "Calls":
        from bio_mcp.adapters.embedded.calls import SqliteCalls

        to = self.settings
        calls = SqliteCalls(to.home.expanduser(), to.calls_days, to.calls_mb << 20)
        self._opened.callback(calls.close)
        return calls

    @lazily
    def recorder(self) -> "Recorder | None":
        """Records calls; None where none is to be stored."""
        from bio_mcp.replaying.recorder import CallRecorder

        if not self.settings.calls_days:
            return None
        recorder = CallRecorder(lambda: self.calls)
        self._closed_first.callback(recorder.close)
        return recorder

    @lazily
    def authorizations(self) -> "Authorizations":
        """What the authorization server remembers; no tool is given it."""
        from bio_mcp.adapters.embedded.authorizations import SqliteAuthorizations

        authorizations = SqliteAuthorizations(self.settings.home.expanduser())
        self._opened.callback(authorizations.close)
        return authorizations

    def close(self) -> None:
        """Record what calls wait to be, then close as `Shared` does."""
        self._closed_first.close()
        super().close()

    def checks(self) -> Sequence[Finding]:
        """Check the data directory, the files in it, the queue, Zotero, and what recognises text in scans."""
        from bio_mcp.adapters.embedded import inspection
        from bio_mcp.adapters.parsers.inspection import text_recognition

        return [
            examine("data directory", lambda: inspection.data_directory(self.settings.home.expanduser())),
            examine("database", lambda: inspection.database(self._integrity())),
            *([] if self.settings.opensearch_url else index_file_checks(self.database)),
            examine("queue", lambda: inspection.queue(self.continuations, self.jobs)),
            *multilingual_checks(self, self.settings),
            *self.zotero_checks(),
            examine("text recognition", lambda: text_recognition(self.settings.tesseract)),
        ]

    def _integrity(self) -> "Integrity":
        from bio_mcp.adapters.embedded.integrity import check
        from bio_mcp.literature import serial

        return check(self.database, serial)

    def _bus(self) -> "Announcements":
        from bio_mcp.adapters.embedded.announcements import LoggedAnnouncements

        return LoggedAnnouncements()

    def _rate_limiter(self) -> "RateLimiter":
        from bio_mcp.adapters.embedded.rate_limit import SqliteRateLimiter
        from bio_mcp.adapters.rate_limit import LocalRateLimiter, budget_of, fleet_gap_s, gap_s

        to, keyed = self.settings, self.ncbi_key is not None
        alone = LocalRateLimiter(gap_s(keyed, to.ncbi_delay_ms))
        shared = fleet_gap_s(keyed, to.ncbi_delay_ms)
        pacer = SqliteRateLimiter(to.home.expanduser(), budget_of(to.ncbi_api_key), shared, alone)
        self._opened.callback(pacer.close)
        return pacer

    def _turns(self, budget: str, gap_s: float) -> "RateLimiter":
        from bio_mcp.adapters.embedded.rate_limit import SqliteRateLimiter
        from bio_mcp.adapters.rate_limit import LocalRateLimiter

        pacer = SqliteRateLimiter(self.settings.home.expanduser(), budget, gap_s, LocalRateLimiter(gap_s))
        self._opened.callback(pacer.close)
        return pacer

    def _cache_file(self) -> "Cache":
        from bio_mcp.adapters.embedded.cache import SqliteCache

        cache = SqliteCache(self.settings.home.expanduser(), self.settings.cache_mb << 20)
        self._opened.callback(cache.close)
        return cache


SCRATCH_DAY = date(2026, 1, 1)
ALONE: dict[str, Any] = {"cache": "off", "calls_days": 0, "opensearch_url": ""}


class Scratch(Embedded):
    """A corpus in a directory below `above`, with the models of `other`; `model` makes its vectors if it is given."""

    def __init__(self, other: Shared, above: Path, name: str, model: "Embeddings | None" = None) -> None:
        self._other, self._model = other, model or other.embeddings
        folder = sha256(self._model.fingerprint.encode()).hexdigest()[:12]
        super().__init__(replace(other.settings, home=above / f"{name}-{folder}", **ALONE))

    @property
    def embeddings(self) -> "Embeddings":
        return self._model

    @property
    def language_model(self) -> "LanguageModel | None":
        return self._other.language_model

    def today(self) -> date:
        return SCRATCH_DAY

    def _bus(self) -> "Announcements":
        from bio_mcp.adapters.embedded.announcements import NoAnnouncements

        return NoAnnouncements()
