"""Files in S3: those of the product by their content, and documents to be ingested."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, NoRegionError, ParamValidationError

from bio_mcp.adapters.aws.clients import code_of, get_object, objects_in, reaching
from bio_mcp.adapters.stored import checked, folder_named, is_key, key_of, key_of_hash, missing
from bio_mcp.errors import Forbidden, InvalidInput, Misconfigured, UnreadableDocument, UpstreamFailed
from bio_mcp.ports.sources import MAX_BYTES, MAX_FILES, SUFFIXES, SourceFile

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from mypy_boto3_s3.client import S3Client

WHAT = "files"
PIECE = 1 << 20  # bytes read at once


@dataclass(frozen=True, slots=True)
class S3Blobs:
    """The port `Blobs` over one bucket, whose own encryption and life-cycle rules apply.

    Where files may be gone, it takes s3:ListBucket on their folder beside s3:GetObject, to tell that from a denial.
    """

    client: "S3Client"
    bucket: str

    def put(self, folder: str, content: bytes, suffix: str = "") -> str:
        key = key_of(folder, content, suffix)
        with reaching(WHAT):
            self.client.put_object(Bucket=self.bucket, Key=key, Body=content)
        return key

    def get(self, key: str) -> bytes:
        with reaching(WHAT):
            return checked(key, self._opened(key).read())

    def _opened(self, key: str) -> "StreamingBody":
        """The object, not read yet. Raises `NotFound`."""
        if not is_key(key):
            raise missing()
        return get_object(self.client, self.bucket, key, WHAT, missing())["Body"]

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
                self.client.put_object(Bucket=self.bucket, Key=key, Body=whole)
        return key

    def stream(self, key: str) -> Iterator[bytes]:
        return _pieces(self._opened(key))

    def link(self, key: str, name: str, seconds: int) -> str | None:
        wanted = {"Bucket": self.bucket, "Key": key, "ResponseContentDisposition": f'attachment; filename="{name}"'}
        return self.client.generate_presigned_url("get_object", Params=wanted, ExpiresIn=seconds)

    def delete(self, key: str) -> None:
        if is_key(key):
            with reaching(WHAT):
                self.client.delete_object(Bucket=self.bucket, Key=key)

    def drop(self, folder: str) -> None:
        prefix = f"{folder_named(folder)}/"
        with reaching(WHAT):
            for each in objects_in(self.client, self.bucket, prefix):
                if "/" not in each["Key"].removeprefix(prefix):
                    self.client.delete_object(Bucket=self.bucket, Key=each["Key"])

    def uri(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"


def _pieces(body: "StreamingBody") -> Iterator[bytes]:
    with reaching(WHAT):
        yield from body.iter_chunks(PIECE)


SETTING = "BIO_MCP_INGEST_BUCKETS"
PREFIX = "s3://"
ABSENT_FILES = {"NoSuchKey", "NoSuchBucket", "404", "NotFound"}
DENIED = {"AccessDenied", "403", "Forbidden", "InvalidObjectState"}


@dataclass(frozen=True, slots=True)
class S3Files:
    """Objects by `s3://bucket/key`, in the `buckets` that may be read."""

    client: "S3Client"
    buckets: Sequence[str]
    max_bytes: int = MAX_BYTES
    max_files: int = MAX_FILES

    def locate(self, source: str, *, local: bool) -> str:  # noqa: ARG002  who asks makes no difference
        """The address, its scheme in lower case."""
        bucket, key = self._parts(source)
        return f"{PREFIX}{bucket}/{key}"

    def files(self, location: str, *, local: bool) -> list[SourceFile]:  # noqa: ARG002
        """The object of this key, or else the documents in the folder of this name."""
        bucket, key = self._parts(location)
        if key and not key.endswith("/") and self._exists(bucket, key):
            return [SourceFile(PurePosixPath(key).name, location)]
        prefix = f"{key.rstrip('/')}/" if key else ""
        found: list[SourceFile] = []
        with _reaching():
            for each in objects_in(self.client, bucket, prefix):
                name = each["Key"].removeprefix(prefix)
                dotted = any(part[:1] == "." for part in name.split("/"))
                if PurePosixPath(name).suffix.lower() in SUFFIXES and not dotted:
                    found.append(SourceFile(name, f"{PREFIX}{bucket}/{each['Key']}"))
                if len(found) > self.max_files:
                    raise InvalidInput(f"this folder has more than {self.max_files:,} documents; name folders in it")
        if not found:
            raise InvalidInput("there is no document at this address of S3, or it may not be read here")
        return found

    def read(self, address: str, *, local: bool) -> bytes:  # noqa: ARG002
        """The object, counted as it comes."""
        bucket, key = self._parts(address)
        with _reaching():
            body = self.client.get_object(Bucket=bucket, Key=key)["Body"]
            with body:
                content = body.read(self.max_bytes + 1)
        if len(content) > self.max_bytes:
            raise UnreadableDocument(f"it is larger than {self.max_bytes >> 20} MB")
        return content

    def _parts(self, address: str) -> tuple[str, str]:
        """Bucket and key. Raises `Forbidden` for a bucket that is not allowed."""
        bucket, _, key = address[len(PREFIX) :].partition("/")
        if address[: len(PREFIX)].lower() != PREFIX or not bucket or len(key.encode(errors="replace")) > 1024:
            raise InvalidInput("an address of S3 is s3://bucket/key", field="source")
        if bucket not in self.buckets:
            raise Forbidden(
                f"this bucket may not be read; {SETTING} names those that may, and its operator sets it",
                setting=SETTING,
            )
        return bucket, key

    def _exists(self, bucket: str, key: str) -> bool:
        try:
            with _reaching():
                self.client.head_object(Bucket=bucket, Key=key)
        except InvalidInput:  # S3 says "forbidden" of what is not there to who may not list the bucket
            return False
        return True


@contextmanager
def _reaching() -> Iterator[None]:
    """Errors of S3 as failures that name no bucket, key or account."""
    try:
        yield
    except ClientError as error:
        if code_of(error) in ABSENT_FILES:
            raise InvalidInput("it is not there any more") from None
        if code_of(error) in DENIED:
            raise InvalidInput("it may not be read by this process: check the policy of its role or user") from None
        raise UpstreamFailed("S3 failed; try again") from error
    except (NoCredentialsError, NoRegionError):
        raise Misconfigured(
            "reading from S3 takes AWS credentials and a region: set AWS_REGION and a profile"
        ) from None
    except ParamValidationError:
        raise InvalidInput("an address of S3 is s3://bucket/key", field="source") from None
    except BotoCoreError as error:
        raise UpstreamFailed("S3 could not be reached; try again") from error
