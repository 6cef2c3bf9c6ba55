"""The dead letters of a stack: one SQS queue, in which each letter says how it came.

SQS names the queue that gave a message up (`DeadLetterQueueSourceArn`):
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html
EventBridge and its Scheduler put there themselves what they could not send, and say to whom and why in attributes:
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
https://docs.aws.amazon.com/scheduler/latest/UserGuide/configuring-schedule-dlq.html
SQS's own redrive (StartMessageMoveTask) knows only those of the first kind.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.clients import reaching
from bio_mcp.adapters.aws.messages import ignoring_expired_leases
from bio_mcp.errors import StoreFailed
from bio_mcp.ports.messages import Letter

if TYPE_CHECKING:
    from mypy_boto3_sqs.client import SQSClient

WHAT = "dead letters"
AT_ONCE = 10  # SQS's
HOLD_S = 300  # that letters are hidden from other readers; whoever is killed gives them back after it
LOGGED = "a queued call failed"  # what a function logs of each try
NOT_LOGGED = "its function logged no reason: it may have been stopped, for want of time or memory"
UNREADABLE = "the log of its function could not be read: {}"
SENDERS = {"SCHEDULE_ARN": "schedule", "RULE_ARN": "rule"}


@dataclass(frozen=True, slots=True)
class SqsDeadLetters:
    """The port `DeadLetters` over one SQS queue.

    `queues` are those that a letter may be sent to, by name; `connect` makes a client of a service, for the log. The
    letters end where `wait_s` seconds bring none: SQS then asks all of its servers.
    """

    client: "SQSClient"
    url: str
    queues: Mapping[str, str]
    connect: Callable[[str], Any]
    wait_s: int = 1

    def all(self) -> Sequence[Letter]:
        with self._held() as messages:
            letters = [self._letter(each) for each in messages]
        return sorted(self._explained(letters), key=lambda each: (each.queued_at or datetime.min, each.letter_id))

    def held_elsewhere(self) -> int:
        with reaching(WHAT):
            found = self.client.get_queue_attributes(
                QueueUrl=self.url, AttributeNames=["ApproximateNumberOfMessagesNotVisible"]
            )
        return int(found["Attributes"]["ApproximateNumberOfMessagesNotVisible"])

    def redrive(self, ids: Collection[str]) -> Sequence[str]:
        """Send each letter to its queue, then delete it."""

        def send(message: Mapping[str, Any]) -> bool:
            letter = self._letter(message)
            if not letter.queue:
                return False
            given = message.get("MessageAttributes", {})
            of_the_call = {} if letter.origin.partition(" ")[0] in SENDERS.values() else given
            self.client.send_message(
                QueueUrl=self.queues[letter.queue], MessageBody=letter.body, MessageAttributes=of_the_call
            )
            return True

        return self._removed(ids, send)

    def delete(self, ids: Collection[str]) -> Sequence[str]:
        return self._removed(ids, lambda _: True)

    def _removed(self, ids: Collection[str], first: Callable[[Mapping[str, Any]], bool]) -> Sequence[str]:
        """The letters of these ids that `first` returned True for, which are deleted."""
        done: list[str] = []
        with self._held() as messages:
            for each in [message for message in messages if message["MessageId"] in ids]:
                if first(each):
                    self.client.delete_message(QueueUrl=self.url, ReceiptHandle=each["ReceiptHandle"])
                    messages.remove(each)
                    done.append(each["MessageId"])
        return done

    @contextmanager
    def _held(self) -> Iterator[list[dict[str, Any]]]:
        """All letters, hidden from other readers until the block ends; those that are still in the list are visible to
        them again then."""
        held: dict[str, dict[str, Any]] = {}
        with reaching(WHAT):
            try:
                while batch := self._received():
                    again = any(each["MessageId"] in held for each in batch)
                    held |= {each["MessageId"]: each for each in batch}
                    if again:  # so many that the first ones are visible once more
                        break
                yield (messages := list(held.values()))
                held = {each["MessageId"]: each for each in messages}
            finally:
                for each in held.values():
                    with ignoring_expired_leases():
                        self.client.change_message_visibility(
                            QueueUrl=self.url, ReceiptHandle=each["ReceiptHandle"], VisibilityTimeout=0
                        )

    def _received(self) -> list[dict[str, Any]]:
        answer: Any = self.client.receive_message(
            QueueUrl=self.url,
            MaxNumberOfMessages=AT_ONCE,
            VisibilityTimeout=HOLD_S,
            WaitTimeSeconds=self.wait_s,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))

    def _letter(self, message: Mapping[str, Any]) -> Letter:
        given = {name: each.get("StringValue", "") for name, each in message.get("MessageAttributes", {}).items()}
        system: Mapping[str, str] = message["Attributes"]
        sent_at = _time(system["SentTimestamp"])
        letter = Letter(
            message["MessageId"], message["Body"], queued_at=sent_at, received=int(system["ApproximateReceiveCount"])
        )
        if source := system.get("DeadLetterQueueSourceArn"):
            queue = self._queue(source)
            return replace(letter, origin=f"queue {queue or source.rpartition(':')[2]}", queue=queue)
        sender = next((name for name in SENDERS if name in given), "")
        if not sender:
            return letter
        why = ": ".join(filter(None, (given.get("ERROR_CODE"), given.get("ERROR_MESSAGE"))))
        retries = given.get("RETRY_ATTEMPTS", "")
        return replace(
            letter,
            origin=f"{SENDERS[sender]} {given[sender].rpartition('/')[2]}",
            queue="" if given.get("IS_PAYLOAD_TRUNCATED") == "true" else self._queue(given.get("TARGET_ARN", "")),
            body=_sent(letter.body),
            failed_at=sent_at,
            reason=why,
            tries=int(retries) + 1 if retries.isdecimal() else None,
        )

    def _queue(self, arn: str) -> str:
        """The name here of a queue; "" for one that is not of this stack."""
        named = {url.rpartition("/")[2]: name for name, url in self.queues.items()}
        return named.get(arn.rpartition(":")[2], "") if ":sqs:" in arn else ""

    def _explained(self, letters: Sequence[Letter]) -> Iterator[Letter]:
        """The letters, those that a queue gave up with the last failure that the log has of each."""
        for queue in dict.fromkeys(each.queue for each in letters):
            own = [each for each in letters if each.queue == queue]
            tried = {each.letter_id: each for each in own if each.origin.startswith("queue ") and queue}
            logged: Mapping[str, Mapping[str, Any]] = {}
            missing = NOT_LOGGED
            if tried:
                try:
                    logged = self._logged(queue, tried)
                except StoreFailed as failure:
                    missing = UNREADABLE.format(failure)
            for each in own:
                if each.letter_id not in tried:
                    yield each
                elif found := logged.get(each.letter_id):
                    why = f"{found.get('code')}: {found.get('reason')}"
                    yield replace(each, reason=why, failed_at=found["at"], tries=found.get("receives"))
                else:
                    yield replace(each, reason=missing)

    def _logged(self, queue: str, letters: Mapping[str, Letter]) -> Mapping[str, Mapping[str, Any]]:
        """Message id -> the last line that a function of this queue logged of it, with its time as `at`."""
        found: dict[str, Mapping[str, Any]] = {}
        since = min(each.queued_at for each in letters.values() if each.queued_at)
        with reaching("the log"):
            arn = self.client.get_queue_attributes(QueueUrl=self.queues[queue], AttributeNames=["QueueArn"])
            functions, logs = self.connect("lambda"), self.connect("logs")
            mapped = functions.list_event_source_mappings(EventSourceArn=arn["Attributes"]["QueueArn"])
            for mapping in mapped["EventSourceMappings"]:
                made = functions.get_function_configuration(FunctionName=mapping["FunctionArn"])
                group = made.get("LoggingConfig", {}).get("LogGroup") or f"/aws/lambda/{made['FunctionName']}"
                pages = logs.get_paginator("filter_log_events").paginate(
                    logGroupName=group, startTime=int(since.timestamp() * 1000), filterPattern=f'"{LOGGED}"'
                )
                for event in (event for page in pages for event in page["events"]):
                    for line in map(_object, event["message"].splitlines()):
                        if line.get("message_id") in letters and line.get("message") == LOGGED:
                            found[line["message_id"]] = {**line, "at": _time(event["timestamp"])}
        return found


def _sent(body: str) -> str:
    """What a schedule was to send: Scheduler keeps its request to SQS, whose `MessageBody` that is, or that alone."""
    message = _object(body).get("MessageBody")
    return message if isinstance(message, str) else body


def _object(text: str) -> dict[str, Any]:
    """The JSON object that a text is; empty for any other."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _time(milliseconds: str | int) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)
