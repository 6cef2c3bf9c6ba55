"""Blobs in an S3 bucket."""

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from bio_mcp.adapters.aws.failures import code_of, reaching
from bio_mcp.adapters.blobkeys import checked, is_key, key_of, missing

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

WHAT = "files"
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
        if not is_key(key):
            raise missing()
        with reaching(WHAT):
            try:
                content = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
            except ClientError as error:
                if code_of(error) in ABSENT:
                    raise missing() from None
                raise
        return checked(key, content)

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

    def uri(self, key: str) -> str:
        return f"s3://{self._bucket}/{key}"
