"""An embedded index in S3: a SQLite file that is published whole, and a manifest that names it.

A file is never changed. The manifest is replaced on the condition that it still is the one that was seen, so one writer
wins, and a reader sees all of a change or nothing of it. Each process has a copy of the file on its own disk.
"""

import json
import logging
import shutil
import sqlite3
import tempfile
import time
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import file_digest, sha256
from itertools import groupby
from pathlib import Path
from struct import Struct
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from botocore.exceptions import ClientError

from bio_mcp.adapters.aws.clients import code_of, objects_in, reaching
from bio_mcp.adapters.embedded.database import FILE, READ, Database, make_directory
from bio_mcp.adapters.embedded.integrity import searched_fields
from bio_mcp.adapters.embedded.schema import EARLIER, MIGRATIONS
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.errors import Failure, IndexUnavailable, StoreFailed
from bio_mcp.health import OK, WARN, Finding
from bio_mcp.scope import call_deadline, searched_copy

try:
    import fcntl
except ImportError:  # a system without POSIX locks: what a killed process leaves stays
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

    from bio_mcp.adapters.embedded.database import Connection
    from bio_mcp.ports.state import Leases

FOLDER = "index"  # of the bucket; a folder in it for each index
MANIFEST = "manifest.json"
WHOLE, LOG = 2, 1  # formats of a manifest
STALE_S = 3_600.0  # what was read longer ago serves no call while S3 cannot be reached
LEASE_S = 300.0  # a writer that takes longer may find that another one was first: then nothing of it is written
WAITING = Backoff(tries=300, first_s=0.1, cap_s=1.0)
SPARED = timedelta(hours=1)  # what a reader may still download, and a writer has uploaded and not named yet, is younger
NONE = timedelta(0)
AT_ONCE = 1_000  # keys that one request deletes
PIECE = 8 << 20  # bytes between two looks at the time
NEARLY = 0.8  # of its room
PAPERS_A_WRITE = 1_000  # that a long run writes at once: each write uploads the file
PAGE_BYTES = 32_768  # 7 % less of the file than in pages of 16,384, as four papers' vectors fill one; it is sent whole
PAPER_BYTES = 13_500  # of the file for each paper, see docs/s3-index.md
TRIES = 3  # to read a file that is replaced meanwhile

MISSING = {"NoSuchKey", "404", "NotFound", "AccessDenied", "403"}  # the last two before who may list by prefix alone
UNCHANGED = {"304", "NotModified"}
OVERTAKEN = {"PreconditionFailed", "412", "ConditionalRequestConflict", "409", "NoSuchKey"}

BUSY = "Others are writing to the index; nothing was written. Try again."
DAMAGED = "The index in S3 is damaged: run bio-mcp admin reindex, or put back what its bucket has of older versions."
FORMAT = "The index in S3 was written by another version of bio-mcp; deploy that version."
NEWER = "The index was written by a newer bio-mcp; deploy that version here too."
NO_ROOM = (
    "The disk has no room for a copy of the index: a function needs an IndexStorageMiB of three times what it has."
)
REPLACED = "The index in S3 has just been replaced; try again."
FULL = (
    "The index in S3 is full: it may have {limit} MB, some {papers:,} papers. Deploy with IndexTier=opensearch, or "
    "follow less."
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Published:
    """What a manifest says: the key of the file, its bytes, its schema, and when it was published (ISO 8601).

    `log`: the manifest of an earlier version, by which the file is made of a snapshot and the changes since.
    """

    file: str = ""
    size: int = 0
    schema: int = 0
    as_of: str | None = None
    log: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class ReplaceableObject:
    """An object that is replaced on the condition that it is still the one that was seen. Every method may raise
    `IndexUnavailable`."""

    client: "S3Client"
    bucket: str
    key: str

    def read(self, seen: str | None = None) -> tuple[bytes, str] | tuple[None, None] | None:
        """The content and its ETag; None if that is still `seen`. An object that is not there has neither."""
        known: Mapping[str, str] = {"IfNoneMatch": seen} if seen else {}
        with reaching_index():
            try:
                found = self.client.get_object(Bucket=self.bucket, Key=self.key, **known)  # type: ignore[arg-type]
                return found["Body"].read(), found["ETag"]
            except ClientError as error:
                if code_of(error) in UNCHANGED:
                    return None
                if code_of(error) in MISSING and not any(objects_in(self.client, self.bucket, self.key)):
                    return None, None
                raise

    def replace(self, content: bytes, seen: str | None) -> str | None:
        """Put the content in the place of that with the ETag `seen`, None for no object; returns its own ETag.

        None if there is another one by now, perhaps this very one: a request whose answer was lost is repeated.
        """
        only: Mapping[str, str] = {"IfMatch": seen} if seen else {"IfNoneMatch": "*"}
        with reaching_index():
            try:
                return self.client.put_object(
                    Bucket=self.bucket,
                    Key=self.key,
                    Body=content,
                    ContentType="application/json",
                    **only,  # type: ignore[arg-type]
                )["ETag"]
            except ClientError as error:
                if code_of(error) in OVERTAKEN:
                    return None
                raise


class IndexObjects:
    """What an index of this `name` has in the bucket. Every method may raise `IndexUnavailable`.

    An index that was never written is empty, unless `exists` knows that it is there: then it has been removed.
    """

    piece, spared = PIECE, SPARED

    def __init__(self, client: "S3Client", bucket: str, name: str, exists: Callable[[], bool] = lambda: False) -> None:
        self._client, self._bucket, self._exists = client, bucket, exists
        self._prefix = f"{FOLDER}/{name}/"
        self._manifest = ReplaceableObject(client, bucket, self._prefix + MANIFEST)
        self.name = name

    def manifest(self, seen: str | None = None) -> tuple[Published, str | None] | None:
        """What is published, and its ETag; None if that is still `seen`. An index that was never written has none."""
        if (found := self._manifest.read(seen)) is None:
            return None
        content, tag = found
        if content is None:
            if self._exists():
                raise IndexUnavailable(REPLACED)
            return Published(), None
        try:
            return _parsed(content), tag
        except (ValueError, TypeError, KeyError) as error:
            raise IndexUnavailable(FORMAT, retryable=False) from error

    def replace(self, published: Published, seen: str | None) -> str | None:
        """Name another file, where the manifest still has the ETag `seen`; returns its own, or None if another writer
        was first."""
        fields = {name: value for name, value in asdict(published).items() if name != "log"}
        return self._manifest.replace(json.dumps({"format": WHOLE, **fields}).encode(), seen)

    def upload(self, path: Path) -> str:
        """Store a file; returns its key, the SHA-256 of what it has."""
        with path.open("rb") as file:
            key = file_digest(file, "sha256").hexdigest()
            file.seek(0)
            with reaching_index():
                self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=file)
        return key

    def download(self, published: Published, into: Path) -> Path:
        """Bring the file to a directory, under a name of its own; returns its path.

        A call that runs out of time leaves what it has, and the next one goes on.
        """
        try:
            make_directory(into)
            if published.log is not None:
                return _replayed(published.log, published.file, into, self.get)
            return self._downloaded(published, into)
        except OSError as error:
            raise IndexUnavailable(NO_ROOM) from error

    def _downloaded(self, published: Published, into: Path) -> Path:
        path, part = into / f"{published.file}.sqlite3", into / f"{published.file}.part"
        for other in into.glob("*.part"):
            if other != part:
                other.unlink()
        with part.open("ab") as file:
            if file.tell() < published.size:
                self._read(published.file, file.tell(), lambda piece: file.write(piece))
        with part.open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != published.file:
                part.unlink()
                raise IndexUnavailable(DAMAGED, retryable=False)
        return part.replace(path)

    def _read(self, key: str, begin: int, put: Callable[[bytes], Any]) -> None:
        """Give what an object has, from a byte on, in pieces while the call has time."""
        deadline = call_deadline()
        with reaching_index(IndexUnavailable(REPLACED)):  # another one took its place since the manifest was read
            found = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key, Range=f"bytes={begin}-")
            for piece in found["Body"].iter_chunks(self.piece):
                put(piece)
                deadline.check("the index was downloaded")

    def get(self, key: str) -> bytes:
        """An object that an earlier version has put, checked against its key."""
        pieces: list[bytes] = []
        self._read(key, 0, pieces.append)
        content = b"".join(pieces)
        if sha256(content).hexdigest() != key:
            raise IndexUnavailable(DAMAGED, retryable=False)
        return content

    def clear(self, file: str) -> int:
        """Delete all but the manifest, this file and what is young; returns how many objects."""
        return self.remove(self.spared, {self._prefix + file, self._prefix + MANIFEST})

    def remove(self, younger: timedelta = NONE, spared: frozenset[str] | set[str] = frozenset()) -> int:
        """Delete the index, but for what is `younger` and the keys that are `spared`; returns how many objects."""
        before = datetime.now(UTC) - younger
        with reaching_index():
            objects = [
                (each["Key"], each["LastModified"]) for each in objects_in(self._client, self._bucket, self._prefix)
            ]
        unused = [key for key, written in objects if key not in spared and (not younger or written < before)]
        for start in range(0, len(unused), AT_ONCE):
            part = [{"Key": key} for key in unused[start : start + AT_ONCE]]
            with reaching_index():
                self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": part, "Quiet": True})  # type: ignore[typeddict-item]
        return len(unused)


class PublishedDatabase(Database):
    """The corpus file in `directory`, as the index `objects` has it; the directory is this copy's alone, and is deleted
    with it.

    A transaction that reads sees what was published `refresh_s` ago, or later; one that writes sees everything. What it
    writes is published before the block ends, so whatever a caller was told is done is in S3; if another writer was
    first, `IndexUnavailable` is raised and nothing is written. The file may have `max_bytes`.
    """

    page_bytes = PAGE_BYTES

    def __init__(
        self,
        directory: Path,
        objects: IndexObjects,
        leases: "Callable[[], Leases]",
        *,
        refresh_s: float,
        max_bytes: int,
        papers_a_write: int = PAPERS_A_WRITE,
        clock: Callable[[], float] = time.time,
        migrations: Sequence[str] = MIGRATIONS,
    ) -> None:
        super().__init__(directory, migrations=migrations)
        weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
        self.papers_a_write = papers_a_write
        self._schema = EARLIER + len(migrations)
        self._objects, self._leases = objects, leases
        self._refresh_s, self._max_bytes, self._clock = refresh_s, max_bytes, clock
        self._lock = Lock()  # of who brings the copy up to date, or writes
        self._is_written = False
        self._published = Published()
        self._tag: str | None = None
        self._before: Path | None = None  # the copy that this one took the place of; a thread may just be opening it
        self._checked = float("-inf")  # when the copy was known to be the newest

    @contextmanager
    def writing(self, failure: type[Failure] = StoreFailed) -> Iterator["Connection"]:
        with self._lock, ExitStack() as held:
            self._is_written = True
            held.callback(setattr, self, "_is_written", False)
            held.enter_context(leased(self._leases, f"index:{self._objects.name}"))
            self._catch_up()
            with closing(self._second(failure)) as second, second.writing(failure) as connection:
                used, rows = _used(connection), connection.total_changes
                yield connection
                changed = connection.total_changes != rows
                if changed and (now := _used(connection)) > max(limit := self._max_bytes, used):
                    full = FULL.format(limit=limit >> 20, papers=round(limit // PAPER_BYTES, -3))
                    raise IndexUnavailable(full, retryable=False, bytes=now)
            if changed:
                self._publish(second.directory / FILE)
        if changed:
            with suppress(IndexUnavailable):  # a later writer deletes it
                self._objects.clear(self._published.file)

    def _second(self, failure: type[Failure]) -> Database:
        """A second copy, which is written to, published, and then takes the place of the first."""
        shutil.rmtree(self.directory / "second", ignore_errors=True)
        made = Database(self.directory / "second", migrations=self._migrations)
        made.synchronous = "OFF"  # what is lost with the machine is in S3
        make_directory(made.directory)
        with self._transaction(READ, failure) as connection, closing(sqlite3.connect(made.directory / FILE)) as copy:
            connection.backup(copy)
        return made

    def inspect(self) -> Finding:
        with self.reading(IndexUnavailable) as connection:
            used, room = _used(connection) >> 20, self._max_bytes >> 20
        found = f"as of {self._published.as_of or 'never'}, {used:,} of {room:,} MB"
        if used >= NEARLY * room:
            return Finding(WARN, found, "It is nearly full: see docs/s3-index.md before it refuses new papers.")
        fields = searched_fields(self)
        return Finding(OK, found) if fields.state == OK else Finding(WARN, f"{found}; {fields.found}", fields.remedy)

    def catch_up(self) -> None:
        """Bring the copy to what is published by now. Raises `IndexUnavailable`."""
        with self._lock:
            self._catch_up()

    def _before_reading(self) -> None:
        """Catch up unless that was done a moment ago, or another thread is at it.

        A copy that has to be the newest waits for a thread that fetches, not for one that writes.
        """
        age, newest = self._age_s, not self._refresh_s and not self._is_written
        if age >= self._refresh_s and self._lock.acquire(blocking=age > STALE_S or newest):
            try:
                if self._age_s >= self._refresh_s:
                    self._catch_up()
            except IndexUnavailable as unreachable:
                if (age := self._age_s) > STALE_S or not unreachable.retryable:
                    raise
                log.warning("an index that is %d s old is searched: %s", age, unreachable)
            finally:
                self._lock.release()
        searched_copy(self._published.as_of)

    @property
    def _age_s(self) -> float:
        """Seconds since the copy was known to be the newest; a clock that was set back tells nothing."""
        age = self._clock() - self._checked
        return age if age >= 0 else float("inf")

    def _catch_up(self) -> None:
        now = self._clock()
        for tried in range(TRIES):
            if (found := self._objects.manifest(self._tag)) is None:
                break
            try:
                self._follow(found[0])
            except IndexUnavailable as replaced:
                if str(replaced) != REPLACED or tried == TRIES - 1:
                    raise
            else:
                self._published, self._tag = found
                break
        self._checked = now

    def _follow(self, published: Published) -> None:
        """Put the published file in the place of the copy. Transactions that have that one open see it to their end."""
        if published.file == self._published.file:
            return
        if published.schema > self._schema:
            raise IndexUnavailable(NEWER, retryable=False)
        if published.file:
            self._use(self._objects.download(published, self.directory).replace(self._new_path()))
        else:
            self._use(self._new_path())

    def _new_path(self) -> Path:
        """Of a copy: never that of one before, which may have been the same to the byte and is deleted."""
        return self.directory / f"{uuid4().hex}.sqlite3"

    def _use(self, path: Path) -> None:
        """Search this file from now on. Transactions that have the one before open see that to their end."""
        if self._before:
            for each in self.directory.glob(f"{self._before.name}*"):
                with suppress(OSError):  # of a system that deletes no open file; it goes with the directory
                    each.unlink()
        self._before, self._path, self._verified = self._path, path, None
        self.close()

    def _publish(self, path: Path) -> None:
        """Publish the file and use it; raises `IndexUnavailable` if another writer was first."""
        as_of, size = datetime.now(UTC).isoformat(timespec="seconds"), path.stat().st_size
        published = Published(self._objects.upload(path), size, self._schema, as_of)
        tag = self._objects.replace(published, self._tag)
        if tag is None:
            found = self._objects.manifest()
            if found is None or found[0] != published:
                raise IndexUnavailable(BUSY)
            tag = found[1]  # it was published, and the answer lost
        self._use(path.replace(self._new_path()))
        self._published, self._tag, self._checked = published, tag, self._clock()


@contextmanager
def leased(leases: "Callable[[], Leases]", name: str) -> Iterator[None]:
    """Hold the lease of this name, which saves work that would be thrown away: the condition decides who is first.

    Raises `IndexUnavailable` where others have it all the time.
    """
    holder = uuid4().hex

    def take() -> None:
        if not leases().acquire(name, holder, LEASE_S):
            raise IndexUnavailable(BUSY)

    try:
        retry(take, worth=IndexUnavailable, backoff=WAITING)
    except StoreFailed as failure:
        raise IndexUnavailable(str(failure), retryable=failure.retryable) from failure
    try:
        yield
    finally:
        with suppress(StoreFailed):  # it ends by itself
            leases().release(name, holder)


@contextmanager
def private_directory(above: Path | None = None) -> Iterator[Path]:
    """A new directory in the temporary one, deleted at the end, with those that killed processes have left there."""
    above, prefix = above or Path(tempfile.gettempdir()), "bio-mcp-index-"
    for left in above.glob(f"{prefix}*"):
        with suppress(OSError), (left / "lock").open() as lock:  # one that is being made has no lock yet
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
    while True:
        made = Path(tempfile.mkdtemp(prefix=prefix, dir=above))
        with (made / "lock").open("w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_SH)
            if not (made / "lock").exists():  # it was taken for an abandoned one before it was locked
                continue
            try:
                yield made
            finally:
                shutil.rmtree(made, ignore_errors=True)
            return


@contextmanager
def reaching_index(gone: IndexUnavailable | None = None) -> Iterator[None]:
    """Errors of S3 as `IndexUnavailable`, as `gone` those of what is not there."""
    try:
        with reaching("the index", gone):
            yield
    except StoreFailed as failure:
        raise IndexUnavailable(str(failure), retryable=failure.retryable) from failure


def _used(connection: "Connection") -> int:
    asked: Sequence[str] = ("page_count", "freelist_count", "page_size")
    pages, free, size = (connection.execute(f"PRAGMA {each}").fetchone()[0] for each in asked)
    return int((pages - free) * size)


def _parsed(content: bytes) -> Published:
    fields: dict[str, Any] = json.loads(content)
    kind = fields.pop("format", None)
    if kind == WHOLE:
        return Published(**fields)
    if kind != LOG:
        raise ValueError("another format")
    schemas = [each["schema"] for each in (fields["snapshot"], *fields["changes"]) if each]
    return Published(f"log-{fields['position']}", 0, max(schemas, default=0), fields["as_of"], fields)


HEAD = Struct("<I")  # bytes of the JSON that follows; blobs stand behind it


def _replayed(manifest: Mapping[str, Any], name: str, into: Path, get: Callable[[str], bytes]) -> Path:
    """Make the file that an earlier version published as a snapshot in parts, and the SQL of each transaction since."""
    snapshot = manifest["snapshot"]
    scratch = into / f"log-since-{snapshot['position'] if snapshot else 0}"
    make_directory(scratch)
    path = scratch / FILE
    if snapshot and (not path.exists() or path.stat().st_size < snapshot["size"]):
        with path.open("ab") as file:
            file.truncate(begin := file.tell() // snapshot["part_size"] * snapshot["part_size"])
            for key in snapshot["parts"][begin // snapshot["part_size"] :]:
                file.write(get(key))
    [first, *_] = [snapshot] if snapshot else manifest["changes"] or [{"schema": EARLIER + len(MIGRATIONS)}]
    with (
        closing(Database(scratch, migrations=MIGRATIONS[: first["schema"] - EARLIER])) as database,
        database.reading(IndexUnavailable) as connection,
    ):
        row = connection.execute("SELECT value FROM settings WHERE name = 'published'").fetchone()
    changes = [each for each in manifest["changes"] if each["position"] > (int(row[0]) if row else 0)]
    for schema, group in groupby(changes, key=lambda each: each["schema"]):
        with closing(Database(scratch, migrations=MIGRATIONS[: schema - EARLIER])) as database:
            for each in group:
                with database.writing(IndexUnavailable) as connection:
                    for sql, rows in _statements(get(each["key"])):
                        connection.executemany(sql, rows)
    shutil.move(path, made := into / f"{name}.sqlite3")
    shutil.rmtree(scratch)
    return made


def _statements(content: bytes) -> Iterator[tuple[str, list[list[Any]]]]:
    """The statements of a transaction: SQL, and the values of each time that it was carried out."""
    whole = zlib.decompress(content)
    start = HEAD.size + HEAD.unpack_from(whole)[0]
    fields, blobs = json.loads(whole[HEAD.size : start]), []
    for size in fields["blobs"]:
        blobs.append(whole[start : start + size])
        start += size
    for sql, rows in fields["statements"]:
        yield sql, [[blobs[each[0]] if isinstance(each, list) else each for each in row] for row in rows]
