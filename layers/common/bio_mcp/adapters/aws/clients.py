"""Clients of AWS services, their errors as failures that name no resource, and secrets."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

import botocore.loaders
import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
)

from bio_mcp.errors import Misconfigured, StoreFailed
from bio_mcp.lazy import Lazy
from bio_mcp.tracing import request_span

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef, ObjectTypeDef

PATIENT = Config(  # a request without an answer is repeated: every write must tolerate being sent twice
    connect_timeout=3,
    read_timeout=20,
    retries={"mode": "standard", "total_max_attempts": 6},
    max_pool_connections=16,
    account_id_endpoint_mode="disabled",  # an endpoint per account has no gain here, and emulators lack it
)
_FILES = botocore.loaders.Loader()  # descriptions of services: to read them is most of the work of making a client


class Clients:
    """Makes clients. Threads may share it."""

    def __init__(self) -> None:
        self._session = botocore.session.Session()
        self._session.register_component("data_loader", _FILES)
        self._lock = Lock()

    def make(self, service: str, config: Config = PATIENT, endpoint: str | None = None) -> Any:
        """A client of `service`, at `endpoint` (a URL) instead of AWS. `AWS_ENDPOINT_URL` does the same for all
        services.

        Raises `Misconfigured` if no region is configured.
        """
        try:
            with self._lock:
                return _traced(self._session.create_client(service, endpoint_url=endpoint, config=config))
        except NoRegionError:
            raise Misconfigured("mode aws takes a region: set AWS_REGION, or AWS_DEFAULT_REGION") from None


def _traced(client: Any) -> Any:
    """The client, whose calls are spans, from the first try to the last. Of their parameters these have the table."""

    def begin(params: Any, model: Any, context: dict[str, Any], **_: Any) -> None:
        table = params.get("TableName") if model.service_model.service_name == "dynamodb" else None
        known = {"table_name": str(table)} if table else {}
        context["bio_mcp.span"] = request_span(str(model.service_model.service_id), model.name, **known)

    def end(context: dict[str, Any], parsed: Any = None, exception: Any = None, **_: Any) -> None:
        answer = parsed or {}
        problem = type(exception).__name__ if exception else str(answer.get("Error", {}).get("Code", ""))
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
        context.pop("bio_mcp.span")(problem, {"status": str(status)} if status else {})

    for event, handler in {"before-parameter-build": begin, "after-call": end, "after-call-error": end}.items():
        client.meta.events.register(event, handler)
    return client


class ClientsByTime:
    """Clients of one service, one for each time-out in whole seconds, which send a request once. Threads may share it.

    `make` makes one with a configuration.
    """

    def __init__(self, make: Callable[[Config], Any]) -> None:
        self._make = make
        self._made: dict[int, Any] = {}
        self._lock = Lock()

    def within(self, seconds: int) -> Any:
        with self._lock:
            if seconds not in self._made:
                config = Config(connect_timeout=2, read_timeout=seconds, retries={"total_max_attempts": 1})
                self._made[seconds] = self._make(config)
            return self._made[seconds]


class Contended(StoreFailed):
    """Others are using the same items at this moment; the same request may succeed in another."""


BUSY = "The store of {what} is busy at the moment. Nothing is lost; try again."
FORBIDDEN = "This process may not use the store of {what}: check its AWS credentials and the policy of its role."
ABSENT = "The store of {what} does not exist: deploy the stack, or check the settings that name it."
AWAY = "The store of {what} could not be reached. What was not acknowledged may be repeated; try again."
TOO_LARGE = "This is too large for the store of {what}."

CODES = {  # by what is said of them, and whether the same request may succeed later
    (BUSY, True): "ProvisionedThroughputExceededException ThrottlingException Throttling RequestLimitExceeded "
    "RequestThrottled SlowDown TransactionInProgressException",
    (FORBIDDEN, False): "AccessDeniedException AccessDenied 403 UnrecognizedClientException InvalidClientTokenId "
    "InvalidAccessKeyId SignatureDoesNotMatch InvalidSignatureException",
    (FORBIDDEN, True): "ExpiredTokenException ExpiredToken",
    (ABSENT, False): "ResourceNotFoundException NoSuchBucket AWS.SimpleQueueService.NonExistentQueue QueueDoesNotExist",
}
SENTENCES = {code: said for said, codes in CODES.items() for code in codes.split()}
GONE = {"NoSuchKey", "404", "NotFound", "PreconditionFailed", "412", "ExecutionDoesNotExist", "InvalidArn"}
CONFLICTS = {"TransactionConflictException"}  # of two writers; botocore does not send the request again
OURS = {"ValidationException", "SerializationException", "InvalidParameterValue"}  # a malformed request
TOO_LARGE_SAYS = "size"  # in DynamoDB's message about an item over 400 KB


def code_of(error: Exception) -> str:
    """AWS's code of an error, or the kind of one that AWS did not answer."""
    return (
        str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else type(error).__name__
    )


def objects_in(client: "S3Client", bucket: str, prefix: str) -> "Iterator[ObjectTypeDef]":
    """The objects of S3 whose keys begin with `prefix`, in the order of these."""
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        yield from page.get("Contents", [])


def get_object(
    client: "S3Client", bucket: str, key: str, what: str, gone: Exception, **only: Any
) -> "GetObjectOutputTypeDef":
    """S3's answer to GetObject, whose body is not read yet; `gone` where there is no such object.

    S3 says that it is denied what is not there to who may not list the whole bucket. So who may list the folder looks
    there; where that is denied too, it was no answer about the object. `only` are conditions, as `IfMatch`.
    https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
    """
    with reaching(what, gone):
        try:
            return client.get_object(Bucket=bucket, Key=key, **only)
        except ClientError as error:
            if code_of(error) != "AccessDenied" or any(each["Key"] == key for each in objects_in(client, bucket, key)):
                raise
        raise gone


@contextmanager
def reaching(what: str, gone: Exception | None = None) -> Iterator[None]:
    """Translate botocore's errors into `StoreFailed` about the store of `what`, or into `gone`, if given, where
    a thing is not there; a mistake in our own request is raised as is."""
    try:
        yield
    except ParamValidationError:
        raise
    except ClientError as error:
        if gone and code_of(error) in GONE:
            raise gone from None
        raise _translate(error, what) from error
    except (NoCredentialsError, PartialCredentialsError, NoRegionError) as error:
        raise StoreFailed(FORBIDDEN.format(what=what), retryable=False) from error
    except BotoCoreError as error:
        raise StoreFailed(AWAY.format(what=what)) from error


def _translate(error: ClientError, what: str) -> Exception:
    code = code_of(error)
    if code in OURS:
        message = str(error.response.get("Error", {}).get("Message", ""))
        return StoreFailed(TOO_LARGE.format(what=what), retryable=False) if TOO_LARGE_SAYS in message else error
    if code in CONFLICTS:
        return Contended(BUSY.format(what=what))
    sentence, retryable = SENTENCES.get(code, (AWAY, True))
    return StoreFailed(sentence.format(what=what), retryable=retryable)


QUICK = Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 2})  # seconds; a request is waiting


def _from_secrets_manager(client: Any, name: str) -> tuple[str, ...]:
    current = client.get_secret_value(SecretId=name, VersionStage="AWSCURRENT")["SecretString"]
    try:
        return current, client.get_secret_value(SecretId=name, VersionStage="AWSPREVIOUS")["SecretString"]
    except client.exceptions.ResourceNotFoundException:
        return (current,)


def _from_parameter_store(client: Any, name: str) -> tuple[str, ...]:
    newest = client.get_parameter(Name=name, WithDecryption=True)["Parameter"]
    if newest["Version"] == 1:
        return (newest["Value"],)
    previous = f"{name}:{newest['Version'] - 1}"
    try:
        return newest["Value"], client.get_parameter(Name=previous, WithDecryption=True)["Parameter"]["Value"]
    except (client.exceptions.ParameterVersionNotFound, client.exceptions.ParameterNotFound):
        return (newest["Value"],)


READERS = {"secretsmanager": _from_secrets_manager, "ssm": _from_parameter_store}  # by botocore's name of the service


def reader(reference: str) -> Callable[[], tuple[str, ...]]:
    """A function that reads the secret `secretsmanager:NAME` or `ssm:NAME`: its newest value and, if there is one, that
    before it.

    NAME is a name or an ARN. It needs the permission `secretsmanager:GetSecretValue` or `ssm:GetParameter`, and
    `kms:Decrypt` for a key of one's own. Raises `Misconfigured` for another reference; the function raises
    `StoreFailed`, whose message contains neither the name nor a value.
    """
    service, _, name = reference.partition(":")
    if service not in READERS or not name:
        raise Misconfigured("a secret that AWS keeps is named secretsmanager:NAME or ssm:NAME")
    client = Lazy(lambda: Clients().make(service, QUICK))

    def read() -> tuple[str, ...]:
        try:
            return READERS[service](client(), name)
        except (ClientError, BotoCoreError, KeyError) as error:
            problem = code_of(error)
        raise StoreFailed(f"the secret that {service} keeps could not be read ({problem})")

    return read
