"""AWS errors translated into failures with a helpful message that names no table, bucket, queue, key or account."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
)

from bio_mcp.errors import StoreFailed


class Contended(StoreFailed):
    """Others are using the same items at this moment; the same request may succeed in another."""


BUSY = "The store of {what} is busy at the moment. Nothing is lost; try again."
FORBIDDEN = "This process may not use the store of {what}: check its AWS credentials and the policy of its role."
ABSENT = "The store of {what} does not exist: deploy the stack, or check the settings that name it."
AWAY = "The store of {what} could not be reached. What was not acknowledged may be repeated; try again."
TOO_LARGE = "This is too large for the store of {what}."

SENTENCES: dict[str, tuple[str, bool]] = {
    "ProvisionedThroughputExceededException": (BUSY, True),
    "ThrottlingException": (BUSY, True),
    "Throttling": (BUSY, True),
    "RequestLimitExceeded": (BUSY, True),
    "RequestThrottled": (BUSY, True),
    "SlowDown": (BUSY, True),
    "TransactionInProgressException": (BUSY, True),
    "AccessDeniedException": (FORBIDDEN, False),
    "AccessDenied": (FORBIDDEN, False),
    "403": (FORBIDDEN, False),
    "UnrecognizedClientException": (FORBIDDEN, False),
    "InvalidClientTokenId": (FORBIDDEN, False),
    "InvalidAccessKeyId": (FORBIDDEN, False),
    "SignatureDoesNotMatch": (FORBIDDEN, False),
    "InvalidSignatureException": (FORBIDDEN, False),
    "ExpiredTokenException": (FORBIDDEN, True),
    "ExpiredToken": (FORBIDDEN, True),
    "ResourceNotFoundException": (ABSENT, False),
    "NoSuchBucket": (ABSENT, False),
    "AWS.SimpleQueueService.NonExistentQueue": (ABSENT, False),
    "QueueDoesNotExist": (ABSENT, False),
}
CONFLICTS = {"TransactionConflictException"}  # of two writers; botocore does not send the request again
OURS = {
    "ValidationException",
    "SerializationException",
    "InvalidParameterValue",
}  # a malformed request: our own mistake
TOO_LARGE_SAYS = "size"  # in DynamoDB's message about an item over 400 KB


def code_of(error: ClientError) -> str:
    """AWS's code of the error."""
    return str(error.response.get("Error", {}).get("Code", ""))


@contextmanager
def reaching(what: str) -> Iterator[None]:
    """Translate botocore's errors into `StoreFailed` about the store of `what`; a mistake in our own request is
    raised as is."""
    try:
        yield
    except ParamValidationError:
        raise
    except ClientError as error:
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
