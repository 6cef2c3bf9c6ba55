"""Tool calls to be made later, in an SQS queue."""

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from bio_mcp.adapters.aws.failures import code_of, reaching

if TYPE_CHECKING:
    from mypy_boto3_sqs.client import SQSClient

log = logging.getLogger("bio_mcp.queue")

WHAT = "work to be done later"
LONGEST_DELAY_S = 900  # SQS's
LONGEST_LEASE_S = 43_200  # SQS's
DUE = "due"  # the message attribute that says, in seconds since 1970, when a call is due that SQS brings too early
BACKOFF_S = 2.0
TOO_LATE = {"ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight"}  # of a lease that has ended


class SqsContinuations:
    """The port `Continuations` over a standard queue, and the receiving end for whoever works outside Lambda.

    A message's body is the event itself, as a schedule sends it too. SQS delivers at least once and refuses no
    doubles. After as many receipts as the queue's redrive policy says, it moves the event to the dead letters; until
    then a failed one waits 2, 4, 8, ... seconds. `clock` gives seconds since 1970.
    """

    def __init__(
        self, client: "SQSClient", url: str, clock: Callable[[], float] = time.time, backoff_s: float = BACKOFF_S
    ) -> None:
        self._client = client
        self._url = url
        self._clock = clock
        self._backoff_s = backoff_s

    def send(self, event: dict[str, Any], delay_s: float = 0) -> None:
        """A delay over 900 s takes several turns through the queue; who receives it asks `early_s`."""
        due: dict[str, Any] = {DUE: {"DataType": "Number", "StringValue": str(ceil(self._clock() + delay_s))}}
        with reaching(WHAT):
            self._client.send_message(
                QueueUrl=self._url,
                MessageBody=json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
                DelaySeconds=min(LONGEST_DELAY_S, max(0, ceil(delay_s))),
                MessageAttributes=due if delay_s > LONGEST_DELAY_S else {},
            )

    def receive(self, lease_s: float) -> tuple[str, dict[str, Any]] | None:
        """An event that is due, kept from other receivers for `lease_s` seconds; None when none was found."""
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
        """The event has been handled: forget it; nothing when it has been forgotten already."""
        with reaching(WHAT), _in_time_or_not():
            self._client.delete_message(QueueUrl=self._url, ReceiptHandle=receipt.partition(" ")[2])

    def fail(self, receipt: str, reason: str, wait_s: float | None = None) -> None:
        """The event could not be handled: try it again later, or leave it to the dead letters after the last try.

        `wait_s` is in place of the 2, 4, 8, ... seconds until then.
        """
        log.warning("a queued call failed: %s", reason)
        attempts = int(receipt.partition(" ")[0])
        self.hold(receipt, int(self._backoff_s**attempts) if wait_s is None else wait_s)

    def hold(self, receipt: str, seconds: float) -> None:
        """Keep the event from other receivers for so long from now; nothing when it has come to another already."""
        wait = min(LONGEST_LEASE_S, ceil(seconds))
        with reaching(WHAT), _in_time_or_not():
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt.partition(" ")[2], VisibilityTimeout=wait
            )

    def early_s(self, attributes: Mapping[str, Mapping[str, Any]]) -> float:
        """Seconds that a received message is too early, by its message attributes."""
        return early_s(attributes, self._clock())


@contextmanager
def _in_time_or_not() -> Iterator[None]:
    """A change of a message that is gone, or with another receiver, is none."""
    try:
        yield
    except ClientError as error:
        if code_of(error).rpartition(".")[2] not in TOO_LATE:
            raise


def early_s(attributes: Mapping[str, Mapping[str, Any]], now: float) -> float:
    """Seconds that a received message is too early, by its message attributes as SQS or Lambda spell them.

    If not 0, send its event again with that delay and count the message as handled.
    """
    due = attributes.get(DUE, {})
    return max(0.0, float(due.get("StringValue") or due.get("stringValue") or 0) - now)
