"""Calls that a queue delivers: from a schedule, the inbox, a continuation or a redelivery."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import Field, ValidationError

from bio_mcp.call import Outcome, call
from bio_mcp.callers import Caller, as_json
from bio_mcp.deadline import Deadline
from bio_mcp.errors import BudgetSpent, Conflict, Failure, InvalidInput, NotFound
from bio_mcp.ports import Backends
from bio_mcp.ports.messages import WorkQueue
from bio_mcp.tool import Request, Tool

MARGIN_S = 1.5  # of Lambda's time, for writing the answer


def left_s(remaining_ms: Callable[[], int]) -> float:
    """Seconds that an invocation has left for its work."""
    return max(0.0, remaining_ms() / 1000 - MARGIN_S)


class EventCaller(Request):
    """Whom a call is for."""

    subject: str
    scopes: list[str] = Field(default_factory=list)
    tenant: str = ""
    client: str = ""


class Event(Request):
    """Exactly one of `tool` and `resource`."""

    tool: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    resource: str | None = None
    correlation_id: str | None = None
    timeout_s: float | None = Field(default=None, gt=0)
    outcome: bool = False
    caller: EventCaller | None = None

    @property
    def on_behalf_of(self) -> Caller | None:
        """Whom the call is for; None where no token was needed."""
        if (to := self.caller) is None:
            return None
        return Caller(to.subject, frozenset(to.scopes), to.tenant, to.client)


def parse(event: Any) -> Event:
    """Read an event. Raises `InvalidInput` for what names neither a tool nor a resource, or both."""
    shape = 'an event is {"tool": name, "arguments": {...}} or {"resource": uri}'
    try:
        parsed = Event.model_validate(event)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        sentences = [f"{'.'.join(map(str, each['loc'])) or 'event'}: {each['msg']}" for each in problems]
        raise InvalidInput(f"{shape}; {'; '.join(sentences)}") from None
    if (parsed.tool is None) == (parsed.resource is None):
        raise InvalidInput(shape)
    return parsed


INBOX = "inbox/"


def call_for(event: Any) -> Any:
    """The call that an event of S3 stands for, None for a new folder, which has nothing in it to ingest; any other
    event as it is.

    Raises `InvalidInput` for a key that names no project.
    """
    if not (isinstance(event, Mapping) and event.get("source") == "aws.s3"):
        return event
    try:
        bucket, key = event["detail"]["bucket"]["name"], event["detail"]["object"]["key"]
    except (KeyError, TypeError):
        bucket = key = None
    if event.get("detail-type") != "Object Created" or not (isinstance(bucket, str) and isinstance(key, str)):
        raise InvalidInput("what S3 says is not that an object was created")
    if key.endswith("/"):
        return None
    project, _, _ = key.removeprefix(INBOX).rpartition("/")
    if not key.startswith(INBOX) or not project:
        raise InvalidInput(f"a file for a project is put below {INBOX}, in a folder that has the project's id as name")
    from bio_mcp.ingesting.run import TOOL

    return {"tool": TOOL, "arguments": {"project": project, "source": f"s3://{bucket}/{key}"}}


def call_in(message: str) -> Event | None:
    """The call of a tool that a message of a queue stands for; None for a new folder of S3's. Raises `InvalidInput`."""
    body = _json(message)
    if (asked := call_for(body)) is None and body is not None:
        return None
    event = parse(asked)
    if event.tool is None:
        raise InvalidInput("a queue brings calls of tools, and nothing to read")
    return event


log = logging.getLogger("bio_mcp.queued")

MIN_S = 8.0  # with less time left, a record waits for the next invocation
HOLD_S = 30.0  # a record of a killed function is redelivered this long after its invocation would have ended
BUSY_S = 60.0  # until work that another run has in progress is tried again
FIRST_WAIT_S, MAX_WAIT_S = 30.0, 900.0  # before retryable failures are tried again: 30 s, 2 min, 8 min, 15 min
RUNNING = "running"  # the `state` in an answer while another run is working on the same task


def records_of(event: Any) -> list[Mapping[str, Any]]:
    """The records of an SQS event; empty for any other event."""
    records = event.get("Records") if isinstance(event, dict) and event.keys() == {"Records"} else None
    if not isinstance(records, list):
        return []
    return [record for record in records if isinstance(record, dict) and record.get("eventSource") == "aws:sqs"]


class QueuedCalls:
    """Answers for the records of one invocation. `remaining_ms` is what Lambda leaves of it."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        backends: Callable[[], Backends],
        remaining_ms: Callable[[], int],
        run: Callable[..., Outcome] = call,
    ) -> None:
        self._tools, self._backends = tools, backends
        self._remaining_ms, self._run_tool = remaining_ms, run

    def answer(self, records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """SQS's partial-batch answer: the records that failed or were not started."""
        failed = [record["messageId"] for record in records if not self._handled(record)]
        return {"batchItemFailures": [{"itemIdentifier": name} for name in failed]}

    def _handled(self, record: Mapping[str, Any]) -> bool:
        """Handle a record; returns whether it is finished. Every error is logged and never delays the other records."""
        name, receipt = record["messageId"], f"{_receives(record)} {record['receiptHandle']}"
        try:
            queue = self._backends().continuations
            if left_s(self._remaining_ms) < MIN_S:
                log.warning("no time left, returned to the queue", extra={"message_id": name})
                _reschedule(lambda: queue.fail(receipt, "no time", wait_s=0))
                return False
            _reschedule(lambda: queue.hold(receipt, left_s(self._remaining_ms) + HOLD_S))
            return self._run(record, queue, receipt)
        except Failure as failure:
            _log_failure(record, None, type(failure).__name__, str(failure))
            return False

    def _run(self, record: Mapping[str, Any], queue: WorkQueue, receipt: str) -> bool:
        try:
            if (event := call_in(record["body"])) is None:
                return True
            if (tool := self._tools.get(event.tool or "")) is None:
                raise NotFound("the function behind this queue has no such tool")
        except Failure as poison:
            _log_failure(record, None, type(poison).__name__, str(poison))
            _reschedule(lambda: queue.fail(receipt, "it cannot be read"))
            return False
        event_again = {"tool": tool.name, "arguments": event.arguments}
        event_again |= {"caller": as_json(event.on_behalf_of)} if event.on_behalf_of else {}
        if early := queue.early_s(record.get("messageAttributes", {})):
            queue.send(event_again, early)
            return True
        outcome = self._run_tool(
            tool,
            event.arguments,
            self._backends(),
            deadline=Deadline(left_s(self._remaining_ms)),
            correlation_id=record["messageId"],
            unattended=True,
            caller=event.on_behalf_of,
        )
        if (wait_s := postponed_s(outcome, BUSY_S)) is not None:
            named = {"message_id": record["messageId"], "tool": tool.name}
            log.info("busy or out of budget, tried again in %.0f s", wait_s, extra=named)
            queue.send(event_again, wait_s)
            return True
        if outcome.failed:
            error = outcome.body["error"]
            _log_failure(record, tool.name, error["code"], error["message"])
            _reschedule(lambda: queue.fail(receipt, error["code"], wait_s=_wait_s(outcome, _receives(record))))
        return not outcome.failed


def postponed_s(outcome: Outcome, busy_s: float) -> float | None:
    """Seconds until a call that has not failed is made again; None where it is over.

    `busy_s` while another run works on the same task; until the next day where the caller's budget is spent.
    """
    if isinstance(outcome.failure, BudgetSpent):
        return outcome.failure.retry_after_s
    busy = isinstance(outcome.failure, Conflict) or outcome.body.get("state") == RUNNING
    return busy_s if busy else None


def _reschedule(change: Callable[[], object]) -> None:
    """Tell the queue when to redeliver a record. If that fails, the record returns when its visibility time-out
    ends."""
    try:
        change()
    except Failure as failure:
        log.warning("the next delivery could not be scheduled: %s", failure)


def _json(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput("the message is not JSON") from None


def _wait_s(outcome: Outcome, receives: int) -> float | None:
    """Seconds until the next try; None if the time makes no difference."""
    if outcome.failure is None or not outcome.failure.retryable:
        return None
    return max(outcome.failure.retry_after_s or 0.0, min(MAX_WAIT_S, FIRST_WAIT_S * 4.0 ** (receives - 1)))


def _receives(record: Mapping[str, Any]) -> int:
    return int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))


def _log_failure(record: Mapping[str, Any], tool: str | None, code: str, reason: str) -> None:
    fields = {"message_id": record["messageId"], "tool": tool, "code": code, "receives": _receives(record)}
    log.error("a queued call failed", extra={**fields, "reason": reason})
