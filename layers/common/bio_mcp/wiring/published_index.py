"""The embedded engine behind the index of papers and those of projects, where the tier of the index is s3."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from bio_mcp.health import Finding, examine
from bio_mcp.lazy import lazily
from bio_mcp.settings import Settings
from bio_mcp.wiring.indexes import passages_in

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.snapshots.database import PublishedDatabase
    from bio_mcp.adapters.aws.snapshots.indexes import PublishedIndexes
    from bio_mcp.adapters.aws.snapshots.objects import IndexObjects
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
    def indexes(self) -> "PublishedIndexes":
        from bio_mcp.adapters.aws.snapshots.indexes import PublishedIndexes
        from bio_mcp.adapters.aws.snapshots.names import IndexNames

        to = self._settings
        names = IndexNames(self._s3(), to.needed("bucket"), refresh_s=to.index_refresh_s)
        made = PublishedIndexes(names, partial(self._copied, self._directory), passages_in)
        self._opened.callback(made.close)
        return made

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
        return [examine("index", lambda: self.indexes.inspect()), examine("projects", lambda: self._projects.inspect())]

    @lazily
    def _projects(self) -> "PublishedDatabase":
        return self._database("projects")

    def _database(self, name: str) -> "PublishedDatabase":
        from bio_mcp.adapters.aws.snapshots.objects import IndexObjects

        objects = IndexObjects(self._s3(), self._settings.needed("bucket"), name)
        database = self._copied(self._directory, objects)
        self._opened.callback(database.close)
        return database

    def _copied(self, above: Path, objects: "IndexObjects") -> "PublishedDatabase":
        """A copy of an index in a directory below `above`, which is deleted with the copy."""
        from bio_mcp.adapters.aws.snapshots.database import PublishedDatabase
        from bio_mcp.adapters.aws.snapshots.directory import deleted_with

        to = self._settings
        directory = Path(mkdtemp(prefix=f"{objects.name}-", dir=above))
        refresh_s, max_bytes = to.index_refresh_s, to.index_limit_mb << 20
        made = PublishedDatabase(directory, objects, self._leases, refresh_s=refresh_s, max_bytes=max_bytes)
        return deleted_with(made, directory)

    @lazily
    def _directory(self) -> Path:
        from bio_mcp.adapters.aws.snapshots.directory import private_directory

        return self._opened.enter_context(private_directory())
