"""The SQLite file of an index in S3: a copy on this machine's disk that publishes what it changes."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, cast

from bio_mcp.adapters.aws.snapshots.copying import remove_log, restore
from bio_mcp.adapters.aws.snapshots.gate import Gate
from bio_mcp.adapters.aws.snapshots.manifest import Manifest
from bio_mcp.adapters.aws.snapshots.position import apply, position_of, put_position
from bio_mcp.adapters.aws.snapshots.publishing import PART_BYTES, publish
from bio_mcp.adapters.aws.snapshots.replaceable import STALE_S
from bio_mcp.adapters.aws.snapshots.statements import RecordingConnection, Statement, encoded
from bio_mcp.adapters.aws.snapshots.writing import BUSY, LEASE_S, WAITING, leased
from bio_mcp.adapters.embedded.database import FILE, Database
from bio_mcp.adapters.embedded.schema import MIGRATIONS
from bio_mcp.cache_use import searched
from bio_mcp.errors import Failure, IndexUnavailable, StoreFailed
from bio_mcp.health import OK, WARN, Finding

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.snapshots.objects import IndexObjects
    from bio_mcp.adapters.embedded.opening import Connection
    from bio_mcp.ports.state import Leases

NEARLY = 0.8  # of its room
PACKED = 64  # changes after which a writer publishes a snapshot that has them
FULL = (
    "The index in S3 is full: it may have {limit} MB, some {papers:,} papers. Deploy with IndexTier=opensearch, or "
    "follow less."
)
PAPER_BYTES = 12_000  # of the file for each paper, see docs/s3-index.md
NEWER = "The index was written by a newer bio-mcp; deploy that version here too."

log = logging.getLogger(__name__)


class PublishedDatabase(Database):
    """The corpus file in `directory`, which is this process's alone, as the index `objects` has it.

    A transaction that reads sees what was published `refresh_s` ago, or later; one that writes sees everything. What it
    writes is published before it commits, so whatever a caller was told is done is in S3; if another writer was first,
    `IndexUnavailable` is raised and nothing is written. The file may have `max_bytes`.
    """

    connections = RecordingConnection
    synchronous = "OFF"  # what is lost with the machine is in S3

    def __init__(
        self,
        directory: Path,
        objects: "IndexObjects",
        leases: "Callable[[], Leases]",
        *,
        refresh_s: float,
        max_bytes: int,
        packed: int = PACKED,
        part_bytes: int = PART_BYTES,
        clock: Callable[[], float] = time.time,
        migrations: Sequence[str] = MIGRATIONS,
    ) -> None:
        super().__init__(directory, migrations=migrations)
        self._schema = len(migrations)
        self._objects = objects
        self._leases = leases
        self._refresh_s = refresh_s
        self._max_bytes = max_bytes
        self._packed, self._part_bytes = packed, part_bytes
        self._clock = clock
        self._lock = RLock()
        self._gate = Gate()
        self._manifest, self._tag = Manifest(), cast("str | None", None)
        self._checked = float("-inf")  # when the copy was known to be the newest
        self._writing = False  # by the thread that has the lock

    @contextmanager
    def reading(self, failure: type[Failure] = StoreFailed) -> Iterator["Connection"]:
        self._refresh()
        searched(self._manifest.as_of)
        with self._gate.entered(), super().reading(failure) as connection:
            yield connection

    @contextmanager
    def writing(self, failure: type[Failure] = StoreFailed) -> Iterator["Connection"]:
        with self._lock:
            with leased(self._leases, f"index:{self._objects.name}", LEASE_S, WAITING), self._writer():
                self.catch_up()
                with self._gate.entered(), super().writing(failure) as connection:
                    begun, recorder = _used(connection), cast("RecordingConnection", connection)
                    with recorder.recording() as statements:
                        yield connection
                        self._publish(connection, statements, begun)
            published, tag = self._manifest, self._tag
        if published.unpacked >= self._packed:
            self._pack(published, tag)

    @contextmanager
    def _writer(self) -> Iterator[None]:
        self._writing = True
        try:
            yield
        finally:
            self._writing = False

    def inspect(self) -> Finding:
        """Say as of when it is, and how much of its room it takes."""
        with self.reading(IndexUnavailable) as connection:
            used, room, published = _used(connection) >> 20, self._max_bytes >> 20, self._manifest
        found = f"as of {published.as_of or 'never'}, {used:,} of {room:,} MB, {published.position:,} changes"
        if used < NEARLY * room:
            return Finding(OK, found)
        return Finding(WARN, found, "It is nearly full: see docs/s3-index.md before it refuses new papers.")

    def _refresh(self) -> None:
        """Catch up unless that was done a moment ago."""
        if self._age_s < self._refresh_s:
            return
        with self._lock:
            if self._writing or (age := self._age_s) < self._refresh_s:
                return
            try:
                self.catch_up()
            except IndexUnavailable as unreachable:
                if age > STALE_S or not unreachable.retryable:
                    raise
                log.warning("an index that is %d s old is searched: %s", age, unreachable)

    @property
    def _age_s(self) -> float:
        """Seconds since the copy was known to be the newest; a clock that was set back tells nothing."""
        age = self._clock() - self._checked
        return age if age >= 0 else float("inf")

    def catch_up(self) -> None:
        """Bring the copy to what is published by now. Raises `IndexUnavailable`."""
        with self._lock:
            now = self._clock()
            if (found := self._objects.manifest(self._tag)) is not None:
                self._follow(found[0])
                self._manifest, self._tag = found
            elif self._position() != self._manifest.position:  # a change was published, and then not committed
                self._follow(self._manifest)
            self._checked = now

    def _follow(self, manifest: Manifest) -> None:
        changes = manifest.since(self._position())
        if any(each.schema > self._schema for each in changes or ()):
            raise IndexUnavailable(NEWER, retryable=False)
        if changes is None or any(each.schema < self._schema for each in changes):
            self._restore(manifest)
        elif changes:
            with self._gate.entered(), super().writing(IndexUnavailable) as connection:
                apply(connection, self._objects, changes)

    def _restore(self, manifest: Manifest) -> None:
        """Put what is published in the place of the copy."""
        fresh = restore(self.directory / "restored", self._objects, manifest)
        with self._gate.alone():
            self.close()
            remove_log(self.directory / FILE)
            fresh.replace(self.directory / FILE)

    def _position(self) -> int:
        with self._gate.entered(), super().reading(IndexUnavailable) as connection:
            return position_of(connection)

    def _publish(self, connection: "Connection", statements: list[Statement], begun: int) -> None:
        """Publish what the transaction changed; raises `IndexUnavailable` if another writer was first."""
        if not statements:
            return
        if (used := _used(connection)) > max(self._max_bytes, begun):
            raise IndexUnavailable(_full(self._max_bytes), retryable=False, bytes=used)
        put_position(connection, self._manifest.position + 1)
        key, as_of = self._objects.put(encoded(statements)), datetime.now(UTC).isoformat(timespec="seconds")
        changed = self._manifest.changed(key, self._schema, as_of)
        while (tag := self._objects.replace(changed, self._tag)) is None:
            found = self._objects.manifest()
            if found and changed.changes[-1] in found[0].changes:  # it was published, and the answer lost
                changed, tag = found
                break
            if found is None or found[0].changes[-1:] != self._manifest.changes[-1:] or found[1] == self._tag:
                raise IndexUnavailable(BUSY)
            self._manifest, self._tag = found  # another process named a snapshot of what is there already
            changed = self._manifest.changed(key, self._schema, as_of)
        self._manifest, self._tag, self._checked = changed, tag, self._clock()

    def _pack(self, manifest: Manifest, tag: str | None) -> None:
        """Publish a snapshot. Where that fails, the next writer does it: all that it would hold is published."""
        try:
            publish(self, self._objects, self._leases, manifest, tag, self._part_bytes)
        except IndexUnavailable as failure:
            log.warning("no snapshot of the index was published: %s", failure)


def _used(connection: "Connection") -> int:
    """Bytes of the file that hold something."""
    asked: Sequence[str] = ("page_count", "freelist_count", "page_size")
    pages, free, size = (connection.execute(f"PRAGMA {each}").fetchone()[0] for each in asked)
    return int((pages - free) * size)


def _full(limit: int) -> str:
    return FULL.format(limit=limit >> 20, papers=round(limit // PAPER_BYTES, -3))
