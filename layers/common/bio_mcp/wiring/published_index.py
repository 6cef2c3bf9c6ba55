"""The embedded engine behind the index of papers and those of projects, where the tier of the index is s3."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bio_mcp.health import Finding, examine
from bio_mcp.lazy import lazily
from bio_mcp.settings import Settings
from bio_mcp.wiring.indexes import passages_in

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.snapshots.database import PublishedDatabase
    from bio_mcp.adapters.embedded.only_index import OnlyIndex
    from bio_mcp.ports.projects import Collections
    from bio_mcp.ports.state import Leases
    from bio_mcp.ports.stores import Passages


class PublishedIndex:
    """Each index is downloaded when it is first asked; `opened` deletes what was at the end."""

    def __init__(
        self, settings: Settings, s3: Callable[[], Any], leases: "Callable[[], Leases]", opened: ExitStack
    ) -> None:
        self._settings, self._s3, self._leases, self._opened = settings, s3, leases, opened

    @lazily
    def indexes(self) -> "OnlyIndex":
        from bio_mcp.adapters.embedded.only_index import OnlyIndex

        return OnlyIndex(passages_in(self._corpus))

    @lazily
    def multilingual(self) -> "Passages":
        return passages_in(self._database("corpus-multilingual"))

    @lazily
    def collections(self) -> "Collections":
        from bio_mcp.adapters.embedded.collections import SqliteCollections
        from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

        return SqliteCollections(self._projects, k1=BM25_K1, b=BM25_B)

    def checks(self) -> Sequence[Finding]:
        """Check what is published."""
        return [examine("index", lambda: self._corpus.inspect()), examine("projects", lambda: self._projects.inspect())]

    @lazily
    def _corpus(self) -> "PublishedDatabase":
        return self._database("corpus")

    @lazily
    def _projects(self) -> "PublishedDatabase":
        return self._database("projects")

    def _database(self, name: str) -> "PublishedDatabase":
        from bio_mcp.adapters.aws.snapshots.database import PublishedDatabase
        from bio_mcp.adapters.aws.snapshots.objects import IndexObjects

        to = self._settings
        objects = IndexObjects(self._s3(), to.needed("bucket"), name)
        database = PublishedDatabase(
            self._directory / name,
            objects,
            self._leases,
            refresh_s=to.index_refresh_s,
            max_bytes=to.index_limit_mb << 20,
        )
        self._opened.callback(database.close)
        return database

    @lazily
    def _directory(self) -> Path:
        from bio_mcp.adapters.aws.snapshots.directory import private_directory

        return self._opened.enter_context(private_directory())
