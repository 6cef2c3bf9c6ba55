"""The objects of one index in a bucket: its manifest, and what the manifest names."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from bio_mcp.adapters.aws.failures import code_of
from bio_mcp.adapters.aws.snapshots.manifest import Manifest, parsed
from bio_mcp.adapters.aws.snapshots.replaceable import ABSENT, ReplaceableObject, listed, reaching_index
from bio_mcp.errors import IndexUnavailable

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

FOLDER = "index"  # of the bucket; a folder in it for each index
MANIFEST = "manifest.json"
DAMAGED = "The index in S3 is damaged: run bio-mcp reindex, or put back what its bucket has of older versions."
FORMAT = "The index in S3 was written by another version of bio-mcp; deploy that version."
REPLACED = "The index in S3 has just been replaced; try again."
SPARED = timedelta(days=1)  # what a writer has uploaded and not named yet is younger
NONE = timedelta(0)
AT_ONCE = 1_000  # keys that one request deletes


class IndexObjects:
    """What an index of this `name` has in the bucket. Every method may raise `IndexUnavailable`.

    An index that was never written is empty, unless `exists` knows that it is there: then it has been removed.
    """

    def __init__(self, client: "S3Client", bucket: str, name: str, exists: Callable[[], bool] = lambda: False) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = f"{FOLDER}/{name}/"
        self._manifest = ReplaceableObject(client, bucket, self._prefix + MANIFEST)
        self._exists = exists
        self.name = name

    def manifest(self, seen: str | None = None) -> tuple[Manifest, str | None] | None:
        """The manifest and its ETag; None if that is still `seen`. An index that was never written has no ETag."""
        if (found := self._manifest.read(seen)) is None:
            return None
        content, tag = found
        if content is None:
            if self._exists():
                raise IndexUnavailable(REPLACED)
            return Manifest(), None
        try:
            return parsed(content), tag
        except (ValueError, TypeError, KeyError) as error:
            raise IndexUnavailable(FORMAT, retryable=False) from error

    def replace(self, manifest: Manifest, seen: str | None) -> str | None:
        """Put the manifest in the place of the one with the ETag `seen`; returns its own, or None if there is another
        one by now."""
        return self._manifest.replace(manifest.as_json(), seen)

    def put(self, content: bytes) -> str:
        """Store the bytes; returns their key."""
        key = key_of(content)
        with reaching_index():
            self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=content)
        return key

    def get(self, key: str) -> bytes:
        """The bytes, checked against their key."""
        with reaching_index():
            try:
                content = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"].read()
            except ClientError as error:
                if code_of(error) in ABSENT:  # it was deleted since the manifest was read
                    raise IndexUnavailable(REPLACED) from None
                raise
        if key_of(content) != key:
            raise IndexUnavailable(DAMAGED, retryable=False)
        return content

    def clear(self, named: Iterable[str], younger: timedelta = SPARED) -> int:
        """Delete what is not among the keys `named`, but for the manifest and what is `younger`; returns how many
        objects."""
        return self._delete({self._prefix + key for key in (*named, MANIFEST)}, younger)

    def remove(self, younger: timedelta = NONE) -> int:
        """Delete the index, but for what is `younger`; returns how many objects."""
        return self._delete(set(), younger)

    def _delete(self, spared: set[str], younger: timedelta) -> int:
        before = datetime.now(UTC) - younger
        objects = listed(self._client, self._bucket, self._prefix)
        unused = [key for key, written in objects if key not in spared and (not younger or written < before)]
        for start in range(0, len(unused), AT_ONCE):
            part = [{"Key": key} for key in unused[start : start + AT_ONCE]]
            with reaching_index():
                self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": part, "Quiet": True})  # type: ignore[typeddict-item]
        return len(unused)


def key_of(content: bytes) -> str:
    """The name of the bytes within their index."""
    return sha256(content).hexdigest()
