"""Publishes a snapshot of an index, so that new copies need not carry out every change since the first."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bio_mcp.adapters.aws.snapshots.copying import remove_log
from bio_mcp.adapters.aws.snapshots.manifest import Manifest, Snapshot
from bio_mcp.adapters.aws.snapshots.objects import key_of
from bio_mcp.adapters.aws.snapshots.position import THREADS, position_of
from bio_mcp.adapters.aws.snapshots.writing import leased
from bio_mcp.adapters.retry import Backoff
from bio_mcp.deadline import call_deadline
from bio_mcp.errors import IndexUnavailable

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.snapshots.objects import IndexObjects
    from bio_mcp.adapters.embedded.database import Database
    from bio_mcp.ports.state import Leases

PART_BYTES = 8 << 20
LEASE_S = 900.0  # what Lambda gives a function at most
BYTES_A_SECOND = 20e6  # that are surely uploaded; a call without the time for all leaves it to another
ONCE = Backoff(tries=1)
TRIES = 20  # to name the snapshot while others write


def publish(
    database: "Database",
    objects: "IndexObjects",
    leases: "Callable[[], Leases]",
    manifest: Manifest,
    tag: str | None,
    part_bytes: int = PART_BYTES,
) -> bool:
    """Upload the file as it is now, and name it in the manifest, which was this one a moment ago.

    Parts that the last snapshot has are not uploaded again. False if the call has not the time for it, or another
    process has published one meanwhile. Afterwards what nothing names any more is deleted. A process that is killed
    leaves objects that a later one deletes.
    """
    if call_deadline().remaining < _size_of(database) / BYTES_A_SECOND:
        return False
    with leased(leases, f"index:{objects.name}:snapshot", LEASE_S, ONCE):
        snapshot = _uploaded(database, objects, manifest, part_bytes)
        named = _named(objects, manifest, tag, snapshot)
        if named is not None:
            objects.clear(named.keys)
        return named is not None


def _size_of(database: "Database") -> int:
    return sum(each.stat().st_size for each in database.directory.glob("*.sqlite3*"))


def _uploaded(database: "Database", objects: "IndexObjects", manifest: Manifest, part_bytes: int) -> Snapshot:
    """A copy of the file, in parts."""
    path = database.directory / "published.sqlite3"
    try:
        position, schema = _copied(database, path)
        known = frozenset(manifest.snapshot.parts if manifest.snapshot else ())
        with ThreadPoolExecutor(THREADS) as threads:
            size = path.stat().st_size
            upload = partial(_upload, objects, path, known, part_bytes)
            parts = tuple(threads.map(upload, range(0, size, part_bytes)))
        return Snapshot(position, schema, size, part_bytes, parts)
    finally:
        path.unlink(missing_ok=True)
        remove_log(path)


def _copied(database: "Database", path: Path) -> tuple[int, int]:
    """Copy the file page by page, so that what did not change has the place that it had; returns position, schema."""
    with database.reading(IndexUnavailable) as connection, closing(sqlite3.connect(path)) as copy:
        connection.backup(copy)
        return position_of(copy), copy.execute("PRAGMA user_version").fetchone()[0]


def _upload(objects: "IndexObjects", path: Path, known: frozenset[str], size: int, start: int) -> str:
    with path.open("rb") as file:
        file.seek(start)
        part = file.read(size)
    key = key_of(part)
    return key if key in known else objects.put(part)


def _named(objects: "IndexObjects", manifest: Manifest, tag: str | None, snapshot: Snapshot) -> Manifest | None:
    """Name the snapshot in the manifest, beside the changes that others have published meanwhile."""
    before = manifest.snapshot
    for _ in range(TRIES):
        packed = manifest.packed(snapshot)
        if objects.replace(packed, tag) is not None:
            return packed
        found = objects.manifest()
        if found is None or found[0].snapshot != before:
            return None
        manifest, tag = found
    return None
