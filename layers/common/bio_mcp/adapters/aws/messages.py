"""Announcements, the queue of calls to be made later, and calls of Lambda functions."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)

from bio_mcp.adapters.aws.clients import Clients, ClientsByTime, code_of, reaching
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Failure, FunctionBroke, InvalidInput, UpstreamFailed
from bio_mcp.literature.records import CorpusChange

if TYPE_CHECKING:
    from botocore.config import Config
    from mypy_boto3_events.client import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef
    from mypy_boto3_lambda.client import LambdaClient
    from mypy_boto3_sqs.client import SQSClient

SOURCE = "bio-mcp"
NOT_ANNOUNCED = (
    "Changes of the corpus could not be announced on the event bus ({problem}). They are safe, and are "
    "announced by the next run."
)
AT_ONCE = 10  # entries of one PutEvents; at some 200 bytes each they are far from its 256 KB
BACKOFF = Backoff(tries=6, first_s=0.05, jitter=0.5)  # of entries that the bus did not take: 1.5 s in all


class _Rejected(UpstreamFailed):
    """The bus rejected some of the entries."""


@dataclass(frozen=True, slots=True)
class EventBridgeAnnouncements:
    """The port `Announcements`: one event per change, of detail type `corpus.new` and so on.

    Its detail is `{"doc_id", "pmid", "version"}`; together with the detail type it identifies duplicates.
    """

    client: "EventBridgeClient"
    bus: str
    backoff: Backoff = BACKOFF

    def publish(self, changes: Sequence[CorpusChange]) -> None:
        entries: list[PutEventsRequestEntryTypeDef] = [
            {
                "EventBusName": self.bus,
                "Source": SOURCE,
                "DetailType": f"corpus.{change.kind}",
                "Detail": json.dumps({"doc_id": f"pmid:{change.pmid}", "pmid": change.pmid, "version": change.version}),
            }
            for change in changes
        ]
        for start in range(0, len(entries), AT_ONCE):
            put = partial(self._put, entries[start : start + AT_ONCE])
            retry(put, worth=_Rejected, backoff=self.backoff)

    def _put(self, left: "list[PutEventsRequestEntryTypeDef]") -> None:
        """Put the entries, of which those that the bus rejected stay in `left`: its answer says which ones."""
        try:
            answers = self.client.put_events(Entries=left)["Entries"]
        except (ClientError, BotoCoreError) as error:
            raise UpstreamFailed(NOT_ANNOUNCED.format(problem=code_of(error))) from None
        codes = [answer.get("ErrorCode") for answer in answers]
        left[:] = [entry for entry, code in zip(left, codes, strict=True) if code]
        if left:
            raise _Rejected(NOT_ANNOUNCED.format(problem=next(filter(None, codes))))


WHAT = "work to be done later"
LONGEST_DELAY_S = 900  # SQS's
LONGEST_LEASE_S = 43_200  # SQS's
LONGEST_WAIT_S = 86_400  # of any call; one that is due later was queued by a clock that was ahead
DUE = "due"  # the message attribute with the due time, in seconds since 1970, of a call delayed beyond SQS's maximum
BACKOFF_S = 2.0
TOO_LATE = {"ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight"}  # errors about an expired lease


@dataclass(frozen=True, slots=True)
class SqsContinuations:
    """The port `WorkQueue` over a standard SQS queue.

    A message's body is the event itself, in the form that a schedule sends. SQS delivers at least once and does not
    deduplicate. After the number of receipts in the queue's redrive policy it moves the event to the dead-letter queue;
    until then a failed event waits 2, 4, 8, ... seconds. `elsewhere` has the queues of tools whose events are sent to
    one of their own. `clock` returns seconds since 1970.
    """

    client: "SQSClient"
    url: str
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    clock: Callable[[], float] = time.time
    backoff_s: float = BACKOFF_S

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        """Send an event. A delay over 900 s, SQS's maximum, takes several passes through the queue; receivers check
        `early_s`."""
        due: dict[str, Any] = {DUE: {"DataType": "Number", "StringValue": str(ceil(self.clock() + delay_s))}}
        with reaching(WHAT):
            self.client.send_message(
                QueueUrl=self.elsewhere.get(event.get("tool", ""), self.url),
                MessageBody=json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
                DelaySeconds=min(LONGEST_DELAY_S, max(0, ceil(delay_s))),
                MessageAttributes=due if delay_s > LONGEST_DELAY_S else {},
            )

    def receive(self, lease_s: float) -> tuple[str, dict[str, Any]] | None:
        with reaching(WHAT):
            while messages := self.client.receive_message(
                QueueUrl=self.url,
                MaxNumberOfMessages=1,
                VisibilityTimeout=min(LONGEST_LEASE_S, ceil(lease_s)),
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
                MessageAttributeNames=[DUE],
            ).get("Messages"):
                [message] = messages
                event = json.loads(message["Body"])
                receipt = f"{message['Attributes']['ApproximateReceiveCount']} {message['ReceiptHandle']}"
                early = self.early_s(message.get("MessageAttributes", {}))
                if not early:
                    return receipt, event
                self.send(event, early)
                self.ack(receipt)
        return None

    def ack(self, receipt: str) -> None:
        """Delete a handled event; does nothing if it is deleted already."""
        with reaching(WHAT), ignoring_expired_leases():
            self.client.delete_message(QueueUrl=self.url, ReceiptHandle=receipt.partition(" ")[2])

    def fail(
        self,
        receipt: str,
        reason: str,  # noqa: ARG002  SQS stores none; who received the event logs it
        *,
        retryable: bool = True,  # noqa: ARG002  SQS itself counts the tries, and cannot give up before the last
        wait_s: float | None = None,
    ) -> float:
        """Make the event visible again after `wait_s`, by default after 2, 4, 8, ... seconds."""
        attempts = int(receipt.partition(" ")[0])
        wait_s = int(self.backoff_s**attempts) if wait_s is None else wait_s
        self.hold(receipt, wait_s)
        return wait_s

    def hold(self, receipt: str, seconds: float) -> None:
        """Extend the lease to `seconds` from now; does nothing if another receiver has the event already."""
        wait = min(LONGEST_LEASE_S, ceil(seconds))
        with reaching(WHAT), ignoring_expired_leases():
            self.client.change_message_visibility(
                QueueUrl=self.url, ReceiptHandle=receipt.partition(" ")[2], VisibilityTimeout=wait
            )

    def early_s(self, attributes: Mapping[str, Mapping[str, Any]]) -> float:
        """Seconds until a received message is due, by its attributes as SQS or Lambda spell them."""
        due = attributes.get(DUE, {})
        early = float(due.get("StringValue") or due.get("stringValue") or 0) - self.clock()
        return min(max(0.0, early), LONGEST_WAIT_S)


@contextmanager
def ignoring_expired_leases() -> Iterator[None]:
    """Ignore the errors about a message that is deleted or leased by another receiver."""
    try:
        yield
    except ClientError as error:
        if code_of(error).rpartition(".")[2] not in TOO_LATE:
            raise


LARGEST = 6 * 1024 * 1024  # bytes of an event and of an answer: Lambda's limit
LONGEST_S = 28.0  # longest wait: the MCP function is stopped after 29 s, and API Gateway gives up after 30
GRACE_S = 2.0  # added to the deadline: a cold start and the network
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


class LambdaFunctions:
    """Invokes functions by name or ARN. Threads may share it."""

    def __init__(self, connect: "Callable[[Config], LambdaClient] | None" = None) -> None:
        self._clients = ClientsByTime(connect or partial(Clients().make, "lambda"))

    def invoke(self, function: str, event: Mapping[str, Any], deadline: Deadline, *, repeatable: bool) -> Any:
        payload = json.dumps(event).encode()
        if len(payload) > LARGEST:
            raise InvalidInput(f"the arguments are {len(payload) / 2**20:.1f} MB long; at most 6 MB can be sent")
        return retry(
            lambda: self._call(function, payload, deadline, repeatable),
            worth={_Unsent: 2, _Disconnected: 2 if repeatable else 1},
            backoff=ONCE_MORE,
            deadline=deadline,
        )

    def _call(self, function: str, payload: bytes, deadline: Deadline, repeatable: bool) -> Any:
        try:
            answer = self.prepare(deadline.remaining).invoke(FunctionName=function, Payload=payload)
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

    def prepare(self, timeout_s: float) -> "LambdaClient":
        client: LambdaClient = self._clients.within(ceil(min(timeout_s + GRACE_S, LONGEST_S)))
        return client


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
    report = report if isinstance(report, dict) else {}
    kind, message = str(report.get("errorType", "unknown")), str(report.get("errorMessage", ""))
    if kind == "Sandbox.Timedout" or "Task timed out" in message:
        return DeadlineExceeded(UNKNOWN_END)
    if kind == "Function.ResponseSizeTooLarge":
        return InvalidInput("the answer would be longer than the 6 MB that can be carried; ask for less")
    return FunctionBroke(kind)
