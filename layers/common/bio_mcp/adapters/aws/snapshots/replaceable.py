"""An object in a bucket that is replaced under the condition that it is still the one that was seen."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from bio_mcp.adapters.aws.failures import code_of, reaching
from bio_mcp.errors import IndexUnavailable, StoreFailed

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

WHAT = "the index"
STALE_S = 3_600.0  # what was read longer ago serves no call while S3 cannot be reached
ABSENT = {"NoSuchKey", "404", "NotFound"}
MISSING = {*ABSENT, "AccessDenied", "403"}  # so S3 calls it before who may list by prefix alone
UNCHANGED = {"304", "NotModified"}
OVERTAKEN = {"PreconditionFailed", "412", "ConditionalRequestConflict", "409", "NoSuchKey"}


class ReplaceableObject:
    """The object of this key. Every method may raise `IndexUnavailable`."""

    def __init__(self, client: "S3Client", bucket: str, key: str) -> None:
        self._client, self._bucket, self._key = client, bucket, key

    def read(self, seen: str | None = None) -> tuple[bytes, str] | tuple[None, None] | None:
        """The content and its ETag; None if that is still `seen`. An object that is not there has neither."""
        known: Mapping[str, str] = {"IfNoneMatch": seen} if seen else {}
        with reaching_index():
            try:
                found = self._client.get_object(Bucket=self._bucket, Key=self._key, **known)  # type: ignore[arg-type]
                return found["Body"].read(), found["ETag"]
            except ClientError as error:
                if code_of(error) in UNCHANGED:
                    return None
                if code_of(error) in MISSING and not any(listed(self._client, self._bucket, self._key)):
                    return None, None
                raise

    def replace(self, content: bytes, seen: str | None) -> str | None:
        """Put the content in the place of that with the ETag `seen`, None for no object; returns its own ETag.

        None if there is another one by now, perhaps this very one: a request whose answer was lost is repeated.
        """
        only: Mapping[str, str] = {"IfMatch": seen} if seen else {"IfNoneMatch": "*"}
        with reaching_index():
            try:
                return self._client.put_object(
                    Bucket=self._bucket,
                    Key=self._key,
                    Body=content,
                    ContentType="application/json",
                    **only,  # type: ignore[arg-type]
                )["ETag"]
            except ClientError as error:
                if code_of(error) in OVERTAKEN:
                    return None
                raise


def listed(client: "S3Client", bucket: str, prefix: str) -> Iterator[tuple[str, datetime]]:
    """Key and time of each object whose key begins so."""
    pages = client.get_paginator("list_objects_v2")
    with reaching_index():
        for page in pages.paginate(Bucket=bucket, Prefix=prefix):
            yield from ((each["Key"], each["LastModified"]) for each in page.get("Contents", []))


@contextmanager
def reaching_index() -> Iterator[None]:
    """Errors of S3 as `IndexUnavailable`."""
    try:
        with reaching(WHAT):
            yield
    except StoreFailed as failure:
        raise IndexUnavailable(str(failure), retryable=failure.retryable) from failure
