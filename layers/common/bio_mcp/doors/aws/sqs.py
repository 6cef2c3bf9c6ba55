"""Calls that an SQS queue brings: a schedule's, a continuation's, a redelivery's; they are all the same.

Each record is answered for by itself: those that failed are named, and SQS brings them again until it has brought
them as often as the queue's redrive policy says, and then keeps them as dead letters. What somebody else is at work
on right now is no failure: it goes back into the queue as a new message, to be tried in a minute.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bio_mcp.call import Outcome, call
from bio_mcp.deadline import Deadline
from bio_mcp.doors.aws.events import MARGIN_S, Event, parse
from bio_mcp.errors import Conflict, Failure, InvalidInput, NotFound
from bio_mcp.ports import Backends
from bio_mcp.ports.messages import WorkQueue
from bio_mcp.tool import Tool

log = logging.getLogger("bio_mcp.queued")

LEAST_S = 8.0  # a record with less time than this is left for the next invocation
HOLD_S = 30.0  # after the end of this invocation, a record whose function was killed is brought again
BUSY_S = 60.0  # until work that somebody else has is tried again
FIRST_WAIT_S, LONGEST_WAIT_S = 30.0, 900.0  # before what may work later is tried again: 30 s, 2 min, 8 min, 15 min
RUNNING = "running"  # the `state` of an answer that says that somebody else is at work on it


def records_of(event: Any) -> list[Mapping[str, Any]]:
    """The records of an SQS event; none in any other event."""
    records = event.get("Records") if isinstance(event, dict) and event.keys() == {"Records"} else None
    if not isinstance(records, list):
        return []
    return [each for each in records if isinstance(each, dict) and each.get("eventSource") == "aws:sqs"]


class Queued:
    """Answers for the records of one invocation. `remaining_ms` is what Lambda leaves of it."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        backends: Callable[[], Backends],
        remaining_ms: Callable[[], int],
    ) -> None:
        self._tools = tools
        self._backends = backends
        self._remaining_ms = remaining_ms

    def answer(self, records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """SQS's partial-batch answer: the records that failed or were not begun."""
        failed = [each["messageId"] for each in records if not self._handled(each)]
        return {"batchItemFailures": [{"itemIdentifier": name} for name in failed]}

    def _handled(self, record: Mapping[str, Any]) -> bool:
        """Whether the record is done with. Whatever goes wrong is logged, and never holds up the other records."""
        name, receipt = record["messageId"], _receipt(record)
        try:
            queue = self._backends().continuations
            if self._left_s < LEAST_S:
                log.warning("left for later, there is no time", extra={"message_id": name})
                _ask(lambda: queue.fail(receipt, "no time", wait_s=0))
                return False
            _ask(lambda: queue.hold(receipt, self._left_s + HOLD_S))
            return self._made(record, queue, receipt)
        except Failure as failure:
            _log_failure(record, None, type(failure).__name__, str(failure))
            return False

    def _made(self, record: Mapping[str, Any], queue: WorkQueue, receipt: str) -> bool:
        try:
            event = parse(_json(record["body"]))
            tool = self._tool(event)
        except Failure as poison:
            _log_failure(record, None, type(poison).__name__, str(poison))
            _ask(lambda: queue.fail(receipt, "it cannot be read"))
            return False
        again = {"tool": tool.name, "arguments": event.arguments}
        if early := queue.early_s(record.get("messageAttributes", {})):
            queue.send(again, early)
            return True
        outcome = self._called(tool, event.arguments, record["messageId"])
        if is_busy(outcome):
            log.info("busy, tried again later", extra={"message_id": record["messageId"], "tool": tool.name})
            queue.send(again, BUSY_S)
            return True
        if outcome.failed:
            error = outcome.body["error"]
            _log_failure(record, tool.name, error["code"], error["message"])
            _ask(lambda: queue.fail(receipt, error["code"], wait_s=_wait_s(outcome, _receives(record))))
        return not outcome.failed

    def _called(self, tool: Tool, arguments: Mapping[str, Any], correlation_id: str) -> Outcome:
        deadline = Deadline(self._left_s)
        backends = self._backends()
        return call(tool, arguments, backends, deadline=deadline, correlation_id=correlation_id, unattended=True)

    def _tool(self, event: Event) -> Tool:
        if event.tool is None:
            raise InvalidInput("a queue brings calls of tools, and nothing to read")
        if event.tool not in self._tools:
            raise NotFound("the function behind this queue has no such tool")
        return self._tools[event.tool]

    @property
    def _left_s(self) -> float:
        return max(0.0, self._remaining_ms() / 1000 - MARGIN_S)


def is_busy(outcome: Outcome) -> bool:
    """Whether somebody else is at work on what the call was to do."""
    return isinstance(outcome.failure, Conflict) or outcome.body.get("state") == RUNNING


def _ask(change: Callable[[], object]) -> None:
    """Ask the queue when to bring a record again. If it will not hear, the record comes back when the queue's own
    visibility time-out ends."""
    try:
        change()
    except Failure as failure:
        log.warning("the queue was not told when to try again: %s", failure)


def _json(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput("the message is not JSON") from None


def _wait_s(outcome: Outcome, receives: int) -> float | None:
    """Seconds until the next try; None where it makes no difference when."""
    if outcome.failure is None or not outcome.failure.retryable:
        return None
    return max(outcome.failure.retry_after_s or 0.0, min(LONGEST_WAIT_S, FIRST_WAIT_S * 4.0 ** (receives - 1)))


def _receives(record: Mapping[str, Any]) -> int:
    return int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))


def _receipt(record: Mapping[str, Any]) -> str:
    return f"{_receives(record)} {record['receiptHandle']}"


def _log_failure(record: Mapping[str, Any], tool: str | None, code: str, reason: str) -> None:
    said = {"message_id": record["messageId"], "tool": tool, "code": code, "receives": _receives(record)}
    log.error("a queued call failed", extra={**said, "reason": reason})
