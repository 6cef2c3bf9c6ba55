"""The ports on one machine."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bio_mcp.adapters.lazy import Lazy
from bio_mcp.health import Finding, examine
from bio_mcp.settings import Settings
from bio_mcp.wiring.anywhere import Anywhere
from bio_mcp.wiring.ncbi import eutils, ncbi_key

if TYPE_CHECKING:
    from bio_mcp.adapters.embedded.continuations import SqliteContinuations
    from bio_mcp.adapters.embedded.database import Database
    from bio_mcp.adapters.embedded.integrity import Integrity
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.ports.cache import Cache
    from bio_mcp.ports.messages import Announcements
    from bio_mcp.ports.state import Audit, Checkpoints, Jobs, Leases
    from bio_mcp.ports.stores import Blobs, Documents, Passages, Projects


class Embedded(Anywhere):
    """Everything in one SQLite file and in memory: no server, no credentials; the only network is NCBI's."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._database = Lazy(self._open_database)
        self._documents = Lazy(self._make_documents)
        self._passages = Lazy(self._make_passages)

    @property
    def database(self) -> "Database":
        return self._database()

    @property
    def documents(self) -> "Documents":
        return self._documents()

    @property
    def passages(self) -> "Passages":
        return self._passages()

    @property
    def checkpoints(self) -> "Checkpoints":
        from bio_mcp.adapters.embedded.checkpoints import SqliteCheckpoints

        return SqliteCheckpoints(self.database)

    @property
    def jobs(self) -> "Jobs":
        from bio_mcp.adapters.embedded.jobs import SqliteJobs

        return SqliteJobs(self.database)

    @property
    def leases(self) -> "Leases":
        from bio_mcp.adapters.embedded.leases import SqliteLeases

        return SqliteLeases(self.database)

    @property
    def continuations(self) -> "SqliteContinuations":
        from bio_mcp.adapters.embedded.continuations import SqliteContinuations

        return SqliteContinuations(self.database)

    @property
    def audit(self) -> "Audit":
        from bio_mcp.adapters.embedded.audit import SqliteAudit

        return SqliteAudit(self.database)

    @property
    def blobs(self) -> "Blobs":
        from bio_mcp.adapters.embedded.blobs import DirectoryBlobs

        return DirectoryBlobs(self.settings.home.expanduser() / "blobs")

    @property
    def projects(self) -> "Projects":
        from bio_mcp.adapters.embedded.projects import SqliteProjects

        return SqliteProjects(self.database)

    def checks(self) -> Sequence[Finding]:
        """Check the data directory, the corpus file and the queue."""
        from bio_mcp.adapters.embedded import inspection

        return [
            examine("data directory", lambda: inspection.data_directory(self.settings.home.expanduser())),
            examine("database", lambda: inspection.database(self._integrity())),
            examine("queue", lambda: inspection.queue(self.continuations, self.jobs)),
        ]

    def _integrity(self) -> "Integrity":
        from bio_mcp.adapters.embedded.integrity import check
        from bio_mcp.literature import serial

        return check(self.database, serial)

    def _open_database(self) -> "Database":
        from bio_mcp.adapters.embedded.database import Database

        database = Database(self.settings.home.expanduser())
        self._opened.callback(database.close)
        return database

    def _open_announcements(self) -> "Announcements":
        from bio_mcp.adapters.embedded.announcements import LoggedAnnouncements

        return LoggedAnnouncements()

    def _open_entrez(self) -> "Eutils":
        from bio_mcp.adapters.embedded.rate_limit import SqliteRateLimiter
        from bio_mcp.adapters.rate_limit import LocalRateLimiter, budget_of, fleet_gap_s, gap_s

        to, key = self.settings, ncbi_key(self.settings)
        keyed = key is not None
        alone = LocalRateLimiter(gap_s(keyed, to.ncbi_delay_ms))
        shared = fleet_gap_s(keyed, to.ncbi_delay_ms)
        pacer = SqliteRateLimiter(to.home.expanduser(), budget_of(to.ncbi_api_key), shared, alone)
        self._opened.callback(pacer.close)
        return eutils(to, pacer, key, self._opened)

    def _open_cache(self) -> "Cache":
        from bio_mcp.adapters.embedded.cache import SqliteCache

        cache = SqliteCache(self.settings.home.expanduser(), self.settings.cache_mb << 20)
        self._opened.callback(cache.close)
        return cache

    def _make_documents(self) -> "Documents":
        from bio_mcp.adapters.embedded.documents import SqliteDocuments
        from bio_mcp.literature import serial

        return SqliteDocuments(self.database, serial)

    def _make_passages(self) -> "Passages":
        from bio_mcp.adapters.embedded.passages import SqlitePassages
        from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

        return SqlitePassages(self.database, k1=BM25_K1, b=BM25_B)
