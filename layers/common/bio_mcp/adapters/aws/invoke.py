"""Invokes Lambda functions and waits for their answers."""

import json
from collections.abc import Callable, Mapping
from math import ceil
from threading import Lock
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)

from bio_mcp.adapters.aws.clients import Clients
from bio_mcp.adapters.aws.failures import code_of
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Failure, FunctionBroke, InvalidInput, UpstreamFailed

if TYPE_CHECKING:
    from mypy_boto3_lambda.client import LambdaClient

LARGEST = 6 * 1024 * 1024  # bytes of an event and of an answer: Lambda's limit
LONGEST_S = 28.0  # longest wait: the MCP function is stopped after 29 s, and API Gateway gives up after 30
GRACE_S = 2.0  # added to the deadline: a cold start and the network
CONNECT_S = 2.0
NEVER_SENT = (EndpointConnectionError, ConnectTimeoutError)
ONCE_MORE = Backoff(tries=2, first_s=0.0)  # over a new connection, at once
UNKNOWN_END = "The answer did not come in time. What was to be written may have been; the same call is safe to repeat"
UNREACHABLE = "the function of this tool could not be reached; try again in a moment"

REJECTIONS: dict[str, tuple[str, bool]] = {
    "TooManyRequestsException": ("too many calls are being made at once; try again in a moment", True),
    "ThrottlingException": ("too many calls are being made at once; try again in a moment", True),
    "AccessDeniedException": (
        "the endpoint may not call the function of this tool: check the policy of its role",
        False,
    ),
    "ResourceNotFoundException": ("the function of this tool does not exist: check BIO_MCP_FUNCTIONS", False),
}


class _Unsent(UpstreamFailed):
    """The event was never sent: the function has not run."""


class _Disconnected(UpstreamFailed):
    """The connection broke before the answer: the function may have run."""


def _connecting() -> "Callable[[float], LambdaClient]":
    """Makes clients that never retry by themselves, by their read time-out in seconds."""
    clients = Clients()

    def connect(read_s: float) -> "LambdaClient":
        config = Config(connect_timeout=CONNECT_S, read_timeout=read_s, retries={"total_max_attempts": 1})
        client: LambdaClient = clients.make("lambda", config=config)
        return client

    return connect


class LambdaFunctions:
    """Invokes functions by name or ARN. Threads may share it; there is one client per time-out, in whole seconds."""

    def __init__(self, connect: "Callable[[float], LambdaClient] | None" = None) -> None:
        self._connect = connect or _connecting()
        self._clients: dict[int, LambdaClient] = {}
        self._lock = Lock()

    def invoke(self, function: str, event: Mapping[str, Any], deadline: Deadline, *, repeatable: bool) -> Any:
        """Invoke `function` with `event` and return its answer, as JSON.

        The event is sent again only if it cannot have run, or if it may run twice (`repeatable`). Raises `InvalidInput`
        for an event or answer that is too large, `UpstreamFailed`, `DeadlineExceeded`, and `FunctionBroke` for a bug in
        the function.
        """
        payload = json.dumps(event).encode()
        if len(payload) > LARGEST:
            raise InvalidInput(f"the arguments are {len(payload) / 2**20:.1f} MB long; at most 6 MB can be sent")
        return retry(
            lambda: self._call(function, payload, deadline, repeatable),
            worth={_Unsent: 2, _Disconnected: 2 if repeatable else 1},
            backoff=ONCE_MORE,
            deadline=deadline,
        )

    def prepare(self, timeout_s: float) -> None:
        """Make the client for calls with this time-out in advance."""
        self._client(timeout_s)

    def _call(self, function: str, payload: bytes, deadline: Deadline, repeatable: bool) -> Any:
        try:
            answer = self._client(deadline.remaining).invoke(FunctionName=function, Payload=payload)
            content = answer["Payload"].read()
        except NEVER_SENT:
            raise _Unsent(UNREACHABLE) from None
        except ConnectionClosedError:
            raise _Disconnected(UNREACHABLE if repeatable else f"The connection broke. {UNKNOWN_END}") from None
        except ReadTimeoutError:
            raise DeadlineExceeded(UNKNOWN_END) from None
        except NoCredentialsError:
            raise UpstreamFailed(
                "the endpoint has no AWS credentials to call functions with", retryable=False
            ) from None
        except ClientError as error:
            raise _rejection(code_of(error)) from None
        except BotoCoreError as error:
            raise UpstreamFailed(f"The call of the function failed ({type(error).__name__}). {UNKNOWN_END}") from None
        if "FunctionError" in answer:
            raise _broken(content)
        return json.loads(content)

    def _client(self, remaining_s: float) -> "LambdaClient":
        timeout_s = ceil(min(remaining_s + GRACE_S, LONGEST_S))
        with self._lock:
            if timeout_s not in self._clients:
                self._clients[timeout_s] = self._connect(timeout_s)
            return self._clients[timeout_s]


def _rejection(code: str) -> Failure:
    if code == "RequestTooLargeException":
        return InvalidInput("the arguments are too long; at most 6 MB can be sent")
    if code == "InvalidRequestContentException":
        return InvalidInput("the arguments cannot be sent: JSON has no such numbers, such as NaN")
    sentence, retryable = REJECTIONS.get(code, ("the function of this tool could not be called; try again", True))
    return UpstreamFailed(sentence, retryable=retryable, retry_after_s=1 if retryable else None)


def _broken(content: bytes) -> Exception:
    """The exception for a function that ended without an answer, from Lambda's report."""
    try:
        report = json.loads(content)
    except ValueError:
        report = {}
    kind = str(report.get("errorType", "unknown")) if isinstance(report, dict) else "unknown"
    message = str(report.get("errorMessage", "")) if isinstance(report, dict) else ""
    if kind == "Sandbox.Timedout" or "Task timed out" in message:
        return DeadlineExceeded(UNKNOWN_END)
    if kind == "Function.ResponseSizeTooLarge":
        return InvalidInput("the answer would be longer than the 6 MB that can be carried; ask for less")
    return FunctionBroke(kind)
