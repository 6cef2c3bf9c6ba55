"""Lambda functions, invoked and waited for."""

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

LARGEST = 6 * 1024 * 1024  # bytes of an event and of an answer, as Lambda has it
LONGEST_S = 28.0  # that an answer is waited for: the front door itself is given up after 29 s, by API Gateway after 30
GRACE_S = 2.0  # that an answer may be later than its deadline: a cold start, and the way
CONNECT_S = 2.0
NEVER_SENT = (EndpointConnectionError, ConnectTimeoutError)
ONCE_MORE = Backoff(tries=2, first_s=0.0)  # over a new connection, at once
UNKNOWN_END = "The answer did not come in time. What was to be written may have been; the same call is safe to repeat"
UNREACHABLE = "the function of this tool could not be reached; try again in a moment"

REFUSALS: dict[str, tuple[str, bool]] = {
    "TooManyRequestsException": ("too many calls are being made at once; try again in a moment", True),
    "ThrottlingException": ("too many calls are being made at once; try again in a moment", True),
    "AccessDeniedException": (
        "the endpoint may not call the function of this tool: check the policy of its role",
        False,
    ),
    "ResourceNotFoundException": ("the function of this tool does not exist: check BIO_MCP_FUNCTIONS", False),
}


class _Unsent(UpstreamFailed):
    """The event never left this process: the function has not run."""


class _Disconnected(UpstreamFailed):
    """The connection broke before the answer: the function may have run."""


def _connecting() -> "Callable[[float], LambdaClient]":
    """Makes clients that send nothing twice by themselves and wait so many seconds for an answer."""
    clients = Clients()

    def connect(read_s: float) -> "LambdaClient":
        patience = Config(connect_timeout=CONNECT_S, read_timeout=read_s, retries={"total_max_attempts": 1})
        made: LambdaClient = clients.make("lambda", config=patience)
        return made

    return connect


class LambdaFunctions:
    """Invokes functions by name or ARN. Threads may share it; there is a client for each patience, in whole seconds."""

    def __init__(self, connect: "Callable[[float], LambdaClient] | None" = None) -> None:
        self._connect = connect or _connecting()
        self._clients: dict[int, LambdaClient] = {}
        self._lock = Lock()

    def invoke(self, function: str, event: Mapping[str, Any], deadline: Deadline, *, repeatable: bool) -> Any:
        """The answer of `function` to `event`, as JSON. The event is sent again only where it cannot have run, or where
        it may run twice (`repeatable`).

        Raises `InvalidInput` for an event or answer that is too large, `UpstreamFailed`, `DeadlineExceeded`, and
        `FunctionBroke`, which is a bug of the function's.
        """
        payload = json.dumps(event).encode()
        if len(payload) > LARGEST:
            raise InvalidInput(f"the arguments are {len(payload) / 2**20:.1f} MB long; at most 6 MB can be sent")
        return retry(
            lambda: self._answer(function, payload, deadline, repeatable),
            worth={_Unsent: 2, _Disconnected: 2 if repeatable else 1},
            backoff=ONCE_MORE,
            deadline=deadline,
        )

    def prepare(self, patience_s: float) -> None:
        """Make the client for calls with so many seconds' time, before the first one comes."""
        self._client(patience_s)

    def _answer(self, function: str, payload: bytes, deadline: Deadline, repeatable: bool) -> Any:
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
            raise _refusal(code_of(error)) from None
        except BotoCoreError as error:
            raise UpstreamFailed(f"The call of the function failed ({type(error).__name__}). {UNKNOWN_END}") from None
        if "FunctionError" in answer:
            raise _broken(content)
        return json.loads(content)

    def _client(self, remaining_s: float) -> "LambdaClient":
        patience = ceil(min(remaining_s + GRACE_S, LONGEST_S))
        with self._lock:
            if patience not in self._clients:
                self._clients[patience] = self._connect(patience)
            return self._clients[patience]


def _refusal(code: str) -> Failure:
    if code == "RequestTooLargeException":
        return InvalidInput("the arguments are too long; at most 6 MB can be sent")
    if code == "InvalidRequestContentException":
        return InvalidInput("the arguments cannot be sent: JSON has no such numbers, such as NaN")
    sentence, retryable = REFUSALS.get(code, ("the function of this tool could not be called; try again", True))
    return UpstreamFailed(sentence, retryable=retryable, retry_after_s=1 if retryable else None)


def _broken(content: bytes) -> Exception:
    """What Lambda says of a function that ended without an answer."""
    try:
        said = json.loads(content)
    except ValueError:
        said = {}
    kind = str(said.get("errorType", "unknown")) if isinstance(said, dict) else "unknown"
    message = str(said.get("errorMessage", "")) if isinstance(said, dict) else ""
    if kind == "Sandbox.Timedout" or "Task timed out" in message:
        return DeadlineExceeded(UNKNOWN_END)
    if kind == "Function.ResponseSizeTooLarge":
        return InvalidInput("the answer would be longer than the 6 MB that can be carried; ask for less")
    return FunctionBroke(kind)
