"""Blobs in an S3 bucket."""

import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from bio_mcp.adapters.aws.failures import code_of, reaching
from bio_mcp.adapters.blobkeys import checked, is_key, key_of, key_of_hash, missing

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from mypy_boto3_s3.client import S3Client

WHAT = "files"
PIECE = 1 << 20  # bytes read at once
ABSENT = {"NoSuchKey", "404", "NotFound"}


class S3Blobs:
    """The port `Blobs` over one bucket, whose own encryption and life-cycle rules apply.

    Without s3:ListBucket, S3 reports a missing key as forbidden; so it is needed beside s3:GetObject.
    """

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, folder: str, content: bytes, suffix: str = "") -> str:
        key = key_of(folder, content, suffix)
        with reaching(WHAT):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=content)
        return key

    def get(self, key: str) -> bytes:
        with reaching(WHAT):
            return checked(key, self._opened(key).read())

    def exists(self, key: str) -> bool:
        if not is_key(key):
            return False
        with reaching(WHAT):
            try:
                self._client.head_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if code_of(error) in ABSENT:
                    return False
                raise
        return True

    def _opened(self, key: str) -> "StreamingBody":
        """The object, not read yet. Raises `NotFound`."""
        if not is_key(key):
            raise missing()
        with reaching(WHAT):
            try:
                return self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
            except ClientError as error:
                if code_of(error) in ABSENT:
                    raise missing() from None
                raise

    def join(self, keys: Sequence[str]) -> str:
        digest = sha256()
        with tempfile.TemporaryFile() as whole:
            for each in keys:
                content = self.get(each)
                digest.update(content)
                whole.write(content)
            key = key_of_hash(keys[0], digest.hexdigest())
            whole.seek(0)
            with reaching(WHAT):
                self._client.put_object(Bucket=self._bucket, Key=key, Body=whole)
        return key

    def stream(self, key: str) -> Iterator[bytes]:
        return _pieces(self._opened(key))

    def link(self, key: str, name: str, seconds: int) -> str | None:
        wanted = {"Bucket": self._bucket, "Key": key, "ResponseContentDisposition": f'attachment; filename="{name}"'}
        return self._client.generate_presigned_url("get_object", Params=wanted, ExpiresIn=seconds)

    def uri(self, key: str) -> str:
        return f"s3://{self._bucket}/{key}"


def _pieces(body: "StreamingBody") -> Iterator[bytes]:
    with reaching(WHAT):
        yield from body.iter_chunks(PIECE)
