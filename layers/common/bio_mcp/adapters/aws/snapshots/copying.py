"""Makes a copy of a published index on this machine's disk."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from bio_mcp.adapters.aws.snapshots.position import THREADS, apply
from bio_mcp.adapters.embedded.database import FILE, Database
from bio_mcp.adapters.embedded.private import make_directory
from bio_mcp.adapters.embedded.schema import MIGRATIONS
from bio_mcp.deadline import call_deadline
from bio_mcp.errors import IndexUnavailable, StoreFailed

if TYPE_CHECKING:
    from io import FileIO

    from bio_mcp.adapters.aws.snapshots.manifest import Change, Manifest, Snapshot
    from bio_mcp.adapters.aws.snapshots.objects import IndexObjects
    from bio_mcp.deadline import Deadline

DONE = "done"  # has the key of each part of the file that was downloaded, at its place
NO_ROOM = (
    "The disk has no room for a copy of the index: a function needs an IndexStorageMiB of three times what it has."
)


def restore(scratch: Path, objects: "IndexObjects", manifest: "Manifest") -> Path:
    """Make the file of the index in the directory `scratch`; returns its path, with no connection open.

    A call that runs out of time leaves what was downloaded, and the next one goes on. Changes that an older version
    made are carried out on a file of its schema, which is brought up to date afterwards.
    """
    path = scratch / FILE
    try:
        make_directory(scratch)
        remove_log(path)
        if manifest.snapshot is None:
            path.unlink(missing_ok=True)
        else:
            _download(path, objects, manifest.snapshot)
        _complete(scratch, objects, manifest)
        (scratch / DONE).unlink(missing_ok=True)
    except OSError as error:
        raise IndexUnavailable(NO_ROOM) from error
    return path


def remove_log(path: Path) -> None:
    """Remove what SQLite keeps beside a file that no connection has open."""
    for each in ("-wal", "-shm"):
        path.with_name(f"{path.name}{each}").unlink(missing_ok=True)


def _download(path: Path, objects: "IndexObjects", snapshot: "Snapshot") -> None:
    """Download the parts that the file does not have yet, some at once."""
    done = path.with_name(DONE)
    has = set(done.read_text().split()) if done.exists() and path.exists() else set()
    wanted = [(place, key) for place, key in enumerate(snapshot.parts) if f"{place}:{key}" not in has]
    with path.open("r+b" if has else "w+b") as file, done.open("ab" if has else "wb", buffering=0) as log:
        file.truncate(snapshot.size)
        put = partial(_put, file.fileno(), log, snapshot.part_size)
        fetch = partial(_fetch, objects, call_deadline(), put)
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(fetch, wanted))


def _fetch(
    objects: "IndexObjects", deadline: "Deadline", put: Callable[[int, str, bytes], None], part: tuple[int, str]
) -> None:
    deadline.check("the index was downloaded")
    put(*part, objects.get(part[1]))


def _put(file: int, log: "FileIO", size: int, place: int, key: str, content: bytes) -> None:
    os.pwrite(file, content, place * size)
    log.write(f"{place}:{key}\n".encode())


def _complete(scratch: Path, objects: "IndexObjects", manifest: "Manifest") -> None:
    """Carry out the changes that the snapshot lacks, those of each schema on a file that has it."""
    position = manifest.snapshot.position if manifest.snapshot else 0
    for schema, changes in groupby(manifest.since(position) or (), key=lambda each: each.schema):
        _change(scratch, objects, schema, tuple(changes))


def _change(scratch: Path, objects: "IndexObjects", schema: int, changes: "Sequence[Change]") -> None:
    try:
        of_then = Database(scratch, migrations=MIGRATIONS[:schema])
        with closing(of_then), of_then.writing(IndexUnavailable) as connection:
            apply(connection, objects, changes)
    except StoreFailed as failure:
        raise IndexUnavailable(str(failure), retryable=failure.retryable) from failure
