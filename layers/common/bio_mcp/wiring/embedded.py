"""The backends on one machine: the corpus in one SQLite file, and an index in memory or in an OpenSearch."""

from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import date
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from bio_mcp.health import Finding, examine
from bio_mcp.ports import port
from bio_mcp.recording import CallRecorder
from bio_mcp.settings import Settings
from bio_mcp.wiring import indexes
from bio_mcp.wiring.mode import Mode, Row, Table, load
from bio_mcp.wiring.services import SHARED, limits, zotero_checks

if TYPE_CHECKING:
    from collections.abc import Callable

    from bio_mcp.adapters.embedded.database import Database
    from bio_mcp.ports.stores import Embeddings


def _sqlite(path: str) -> Row:
    """A store in the corpus file, "module:Class"."""
    return lambda own: load(path)(own.database)


def _file(path: str, *settings: str) -> Row:
    """A store in a file of its own in the data directory, made with these settings."""
    return lambda own: own.closing(load(path)(own.home, *(getattr(own.settings, name) for name in settings)))


def _recorder(own: "Embedded") -> CallRecorder | None:
    if not own.settings.calls_days:
        return None
    recorder = CallRecorder(partial(getattr, own, "calls"))
    own.closed_first.callback(recorder.close)
    return recorder


def _pace(own: "Embedded", budget: str, fleet_gap_s: float, gap_s: float) -> Any:
    alone = load("bio_mcp.adapters.rate_limit:LocalRateLimiter")(gap_s)
    pacer = load("bio_mcp.adapters.embedded.rate_limit:SqliteRateLimiter")
    return own.closing(pacer(own.home, budget, fleet_gap_s, alone))


def _rate_limiter(own: "Embedded") -> Any:
    from bio_mcp.adapters.rate_limit import budget_of, fleet_gap_s, gap_s

    to, keyed = own.settings, own.ncbi_key is not None
    return _pace(own, budget_of(to.ncbi_api_key), fleet_gap_s(keyed, to.ncbi_delay_ms), gap_s(keyed, to.ncbi_delay_ms))


def scratch(own: Mode, above: Path, name: str, model: "Embeddings | None" = None) -> Any:
    """A corpus apart from `own`, for a block."""
    return closing(Scratch(own, above, name, model))


def _checks(own: Any) -> list[Finding]:
    """Check the data directory, the files in it, the queue, Zotero, and what recognises text in scans."""
    from bio_mcp.adapters.embedded import integrity
    from bio_mcp.adapters.embedded.passages import SqliteIndexes
    from bio_mcp.adapters.parsers.scans import text_recognition

    def searched(check: "Callable[[Database], Finding]") -> "Callable[[], Finding]":
        """A check of the corpus file whose index is searched."""

        def checked() -> Finding:
            with closing(SqliteIndexes(own.database)) as opened:
                return check(opened.searched_database())

        return checked

    of_index = {"index file": integrity.index_file, "searched fields": integrity.searched_fields}
    return [
        examine("data directory", lambda: integrity.data_directory(own.home)),
        examine("database", lambda: integrity.database(integrity.check(own.database))),
        *([] if own.settings.opensearch_url else [examine(name, searched(each)) for name, each in of_index.items()]),
        examine("queue", lambda: integrity.queue(own.dead_letters, own.jobs)),
        *zotero_checks(own),
        examine("text recognition", lambda: text_recognition(own.settings.tesseract)),
    ]


TABLE: Table = {
    **SHARED,
    "checks": lambda own: partial(_checks, own),
    "scratch": lambda own: partial(scratch, own, own.home / "scratch"),
    "database": _file("bio_mcp.adapters.embedded.database:Database"),
    "documents": _sqlite("bio_mcp.adapters.embedded.documents:SqliteDocuments"),
    "indexes": lambda own: (
        indexes.indexes(own.settings)
        if own.settings.opensearch_url
        else own.closing(load("bio_mcp.adapters.embedded.passages:SqliteIndexes")(own.database))
    ),
    "checkpoints": _sqlite("bio_mcp.adapters.embedded.sync_state:SqliteCheckpoints"),
    "news": _sqlite("bio_mcp.adapters.embedded.sync_state:SqliteNews"),
    "jobs": _sqlite("bio_mcp.adapters.embedded.sync_state:SqliteJobs"),
    "leases": _sqlite("bio_mcp.adapters.embedded.sync_state:SqliteLeases"),
    "continuations": _sqlite("bio_mcp.adapters.embedded.sync_state:SqliteContinuations"),
    "dead_letters": _sqlite("bio_mcp.adapters.embedded.sync_state:SqliteDeadLetters"),
    "audit": _sqlite("bio_mcp.adapters.embedded.sync_state:SqliteAudit"),
    "answers": _sqlite("bio_mcp.adapters.embedded.projects:SqliteAnswers"),
    "screenings": _sqlite("bio_mcp.adapters.embedded.projects:SqliteScreenings"),
    "projects": _sqlite("bio_mcp.adapters.embedded.projects:SqliteProjects"),
    "project_documents": _sqlite("bio_mcp.adapters.embedded.projects:SqliteProjectDocuments"),
    "graph": _sqlite("bio_mcp.adapters.embedded.graph:SqliteGraph"),
    "collections": lambda own: (
        indexes.collections(own.settings)
        if own.settings.opensearch_url
        else load("bio_mcp.adapters.embedded.collections:SqliteCollections")(own.database)
    ),
    "blobs": lambda own: load("bio_mcp.adapters.embedded.blobs:DirectoryBlobs")(own.home / "blobs"),
    "budgets": _file("bio_mcp.adapters.embedded.side_files:SqliteBudgets"),
    "authorizations": _file("bio_mcp.adapters.embedded.side_files:SqliteAuthorizations"),
    "limits": lambda own: limits(own.settings, own.budgets),
    "calls": _file("bio_mcp.adapters.embedded.side_files:SqliteCalls", "calls_days", "calls_mb"),
    "recorder": _recorder,
    "rate_limiter": _rate_limiter,
    "turns": lambda own: lambda budget, gap_s: _pace(own, budget, gap_s, gap_s),
    "cache": lambda own: (
        None
        if own.settings.cache == "off"
        else _file("bio_mcp.adapters.embedded.side_files:SqliteCache", "cache_mb")(own)
    ),
    "bus": lambda _own: load("bio_mcp.adapters.embedded.sync_state:LoggedAnnouncements")(),
}


class Embedded(Mode):
    """The corpus in one SQLite file and an index in memory, or in an OpenSearch that the settings name."""

    TABLE: ClassVar[Table] = TABLE
    database: "port[Database]" = port("The corpus file.")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.home = settings.home.expanduser()
        self.closed_first = ExitStack()

    def close(self) -> None:
        """Record what calls wait to be, then close everything."""
        self.closed_first.close()
        super().close()


SCRATCH_DAY = date(2026, 1, 1)
ALONE: dict[str, Any] = {"cache": "off", "calls_days": 0, "opensearch_url": ""}


class Scratch(Embedded):
    """A corpus in a directory below `above`, with the models of `other`; `model` makes its vectors if it is given."""

    TABLE: ClassVar[Table] = {
        **TABLE,
        "language_model": lambda own: own.other.language_model,
        "bus": lambda _own: load("bio_mcp.adapters.embedded.sync_state:NoAnnouncements")(),
    }

    def __init__(self, other: Mode, above: Path, name: str, model: "Embeddings | None" = None) -> None:
        self.other = other
        chosen = model or other.embeddings
        folder = sha256(chosen.fingerprint.encode()).hexdigest()[:12]
        super().__init__(replace(other.settings, home=above / f"{name}-{folder}", **ALONE))
        self.__dict__["embeddings"] = chosen

    def today(self) -> date:
        return SCRATCH_DAY
