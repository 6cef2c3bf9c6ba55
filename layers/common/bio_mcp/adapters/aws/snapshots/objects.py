"""The objects of one index in a bucket: its manifest, and what the manifest names."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from bio_mcp.adapters.aws.failures import code_of, reaching
from bio_mcp.adapters.aws.snapshots.manifest import Manifest, parsed
from bio_mcp.errors import IndexUnavailable, StoreFailed

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

WHAT = "the index"
FOLDER = "index"  # of the bucket; a folder in it for each index
MANIFEST = "manifest.json"
ABSENT = {"NoSuchKey", "404", "NotFound"}
MISSING = {*ABSENT, "AccessDenied", "403"}  # so S3 calls it before who may list by prefix alone
UNCHANGED = {"304", "NotModified"}
OVERTAKEN = {"PreconditionFailed", "412", "ConditionalRequestConflict", "409", "NoSuchKey"}
DAMAGED = "The index in S3 is damaged: run bio-mcp reindex, or put back what its bucket has of older versions."
FORMAT = "The index in S3 was written by another version of bio-mcp; deploy that version."
SPARED = timedelta(days=1)  # what a writer has uploaded and not named yet is younger
AT_ONCE = 1_000  # keys that one request deletes


class IndexObjects:
    """What an index of this `name` has in the bucket. Every method may raise `IndexUnavailable`."""

    def __init__(self, client: "S3Client", bucket: str, name: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = f"{FOLDER}/{name}/"
        self.name = name

    def manifest(self, seen: str | None = None) -> tuple[Manifest, str | None] | None:
        """The manifest and its ETag; None if that is still `seen`. An index that was never written has no ETag."""
        known: Mapping[str, str] = {"IfNoneMatch": seen} if seen else {}
        with _reaching():
            try:
                found = self._client.get_object(Bucket=self._bucket, Key=self._prefix + MANIFEST, **known)  # type: ignore[arg-type]
                content = found["Body"].read()
            except ClientError as error:
                if code_of(error) in UNCHANGED:
                    return None
                if code_of(error) in MISSING and not any(self._listed(MANIFEST)):
                    return Manifest(), None
                raise
        try:
            return parsed(content), found["ETag"]
        except (ValueError, TypeError, KeyError) as error:
            raise IndexUnavailable(FORMAT, retryable=False) from error

    def replace(self, manifest: Manifest, seen: str | None) -> str | None:
        """Put the manifest in the place of the one with the ETag `seen`; returns its own.

        None if there is another one by now, perhaps this very one: a request whose answer was lost is repeated.
        """
        only: Mapping[str, str] = {"IfMatch": seen} if seen else {"IfNoneMatch": "*"}
        with _reaching():
            try:
                return self._client.put_object(
                    Bucket=self._bucket,
                    Key=self._prefix + MANIFEST,
                    Body=manifest.as_json(),
                    ContentType="application/json",
                    **only,  # type: ignore[arg-type]
                )["ETag"]
            except ClientError as error:
                if code_of(error) in OVERTAKEN:
                    return None
                raise

    def put(self, content: bytes) -> str:
        """Store the bytes; returns their key."""
        key = key_of(content)
        with _reaching():
            self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=content)
        return key

    def get(self, key: str) -> bytes:
        """The bytes, checked against their key."""
        with _reaching():
            try:
                content = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"].read()
            except ClientError as error:
                if code_of(error) in ABSENT:  # it was deleted since the manifest was read
                    raise IndexUnavailable("The index in S3 has just been replaced; try again.") from None
                raise
        if key_of(content) != key:
            raise IndexUnavailable(DAMAGED, retryable=False)
        return content

    def clear(self, named: Iterable[str], younger: timedelta = SPARED) -> int:
        """Delete what is not among the keys `named`, but for what is `younger`; returns how many objects."""
        spared = {self._prefix + key for key in (*named, MANIFEST)}
        before = datetime.now(UTC) - younger
        unused = [key for key, written in self._listed() if key not in spared and written < before]
        for start in range(0, len(unused), AT_ONCE):
            part = [{"Key": key} for key in unused[start : start + AT_ONCE]]
            with _reaching():
                self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": part, "Quiet": True})  # type: ignore[typeddict-item]
        return len(unused)

    def _listed(self, name: str = "") -> Iterator[tuple[str, datetime]]:
        """Key and time of each object whose name begins so."""
        pages = self._client.get_paginator("list_objects_v2")
        with _reaching():
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix + name):
                yield from ((each["Key"], each["LastModified"]) for each in page.get("Contents", []))


def key_of(content: bytes) -> str:
    """The name of the bytes within their index."""
    return sha256(content).hexdigest()


@contextmanager
def _reaching() -> Iterator[None]:
    """Errors of S3 as `IndexUnavailable`."""
    try:
        with reaching(WHAT):
            yield
    except StoreFailed as failure:
        raise IndexUnavailable(str(failure), retryable=failure.retryable) from failure
