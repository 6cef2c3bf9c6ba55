"""A queue of tool calls to make later, in SQS."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from bio_mcp.adapters.aws.failures import code_of, reaching

if TYPE_CHECKING:
    from mypy_boto3_sqs.client import SQSClient

WHAT = "work to be done later"
LONGEST_DELAY_S = 900  # SQS's
LONGEST_LEASE_S = 43_200  # SQS's
DUE = "due"  # the message attribute with the due time, in seconds since 1970, of a call delayed beyond SQS's maximum
BACKOFF_S = 2.0
NOWHERE: Mapping[str, str] = MappingProxyType({})
TOO_LATE = {"ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight"}  # errors about an expired lease


class SqsContinuations:
    """The port `WorkQueue` over a standard SQS queue.

    A message's body is the event itself, in the form that a schedule sends. SQS delivers at least once and does not
    deduplicate. After the number of receipts in the queue's redrive policy it moves the event to the dead-letter queue;
    until then a failed event waits 2, 4, 8, ... seconds. `elsewhere` has the queues of tools whose events are sent to
    one of their own. `clock` returns seconds since 1970.
    """

    def __init__(
        self,
        client: "SQSClient",
        url: str,
        elsewhere: Mapping[str, str] = NOWHERE,
        clock: Callable[[], float] = time.time,
        backoff_s: float = BACKOFF_S,
    ) -> None:
        self._client = client
        self._url = url
        self._elsewhere = elsewhere
        self._clock = clock
        self._backoff_s = backoff_s

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        """Send an event. A delay over 900 s, SQS's maximum, takes several passes through the queue; receivers check
        `early_s`."""
        due: dict[str, Any] = {DUE: {"DataType": "Number", "StringValue": str(ceil(self._clock() + delay_s))}}
        with reaching(WHAT):
            self._client.send_message(
                QueueUrl=self._elsewhere.get(event.get("tool", ""), self._url),
                MessageBody=json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
                DelaySeconds=min(LONGEST_DELAY_S, max(0, ceil(delay_s))),
                MessageAttributes=due if delay_s > LONGEST_DELAY_S else {},
            )

    def receive(self, lease_s: float) -> tuple[str, dict[str, Any]] | None:
        """Lease an event that is due for `lease_s` seconds; None if there is none."""
        with reaching(WHAT):
            while messages := self._client.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=1,
                VisibilityTimeout=min(LONGEST_LEASE_S, ceil(lease_s)),
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
                MessageAttributeNames=[DUE],
            ).get("Messages"):
                [message] = messages
                event = json.loads(message["Body"])
                receipt = f"{message['Attributes']['ApproximateReceiveCount']} {message['ReceiptHandle']}"
                early = early_s(message.get("MessageAttributes", {}), self._clock())
                if not early:
                    return receipt, event
                self.send(event, early)
                self.ack(receipt)
        return None

    def ack(self, receipt: str) -> None:
        """Delete a handled event; does nothing if it is deleted already."""
        with reaching(WHAT), _ignoring_expired_leases():
            self._client.delete_message(QueueUrl=self._url, ReceiptHandle=receipt.partition(" ")[2])

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
        wait_s = int(self._backoff_s**attempts) if wait_s is None else wait_s
        self.hold(receipt, wait_s)
        return wait_s

    def hold(self, receipt: str, seconds: float) -> None:
        """Extend the lease to `seconds` from now; does nothing if another receiver has the event already."""
        wait = min(LONGEST_LEASE_S, ceil(seconds))
        with reaching(WHAT), _ignoring_expired_leases():
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt.partition(" ")[2], VisibilityTimeout=wait
            )

    def early_s(self, attributes: Mapping[str, Mapping[str, Any]]) -> float:
        """Seconds until a received message is due, by its message attributes."""
        return early_s(attributes, self._clock())


@contextmanager
def _ignoring_expired_leases() -> Iterator[None]:
    """Ignore the errors about a message that is deleted or leased by another receiver."""
    try:
        yield
    except ClientError as error:
        if code_of(error).rpartition(".")[2] not in TOO_LATE:
            raise


def early_s(attributes: Mapping[str, Mapping[str, Any]], now: float) -> float:
    """Seconds until a received message is due, by its message attributes as SQS or Lambda spell them.

    If not 0, send its event again with that delay and acknowledge the message.
    """
    due = attributes.get(DUE, {})
    return max(0.0, float(due.get("StringValue") or due.get("stringValue") or 0) - now)
