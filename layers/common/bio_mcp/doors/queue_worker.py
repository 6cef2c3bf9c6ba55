"""The worker of the local queue, which makes the calls that tools have queued."""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from bio_mcp.call import call
from bio_mcp.deadline import Deadline
from bio_mcp.doors.aws.queues import Event, postponed_s
from bio_mcp.errors import Failure, NotFound, UpstreamFailed
from bio_mcp.jobs.runner import stall
from bio_mcp.ports import Backends
from bio_mcp.ports.messages import WorkQueue
from bio_mcp.tool import Tool

log = logging.getLogger("bio_mcp.worker")

IDLE_S = 2.0  # between two polls of an empty queue
CALL_S = 300.0  # for one call; a sync that needs longer queues itself again
MARGIN_S = 60.0  # a message is delivered again this long after its call should have ended
BUSY_S = 10.0  # until work that another run has in progress is tried again
STOP_S = 5.0  # for a call to reach its next checkpoint when the worker is stopped


def work_once(
    queue: WorkQueue,
    tools: Mapping[str, Tool],
    backends: Backends,
    deadline: Callable[[], Deadline] = lambda: Deadline(CALL_S),
) -> bool:
    """Take one message and make its call; False if the queue is empty.

    A failed call is tried again while it is retryable and the queue allows, then given up.
    """
    message = queue.receive(CALL_S + MARGIN_S)
    if message is None:
        return False
    receipt, event = message
    tool = tools.get(event["tool"])
    if tool is None:
        _failed(queue, receipt, event, backends, NotFound(f"there is no tool {event['tool']}"))
        return True
    caller = Event.model_validate({"caller": event.get("caller")}).on_behalf_of
    outcome = call(tool, event["arguments"], backends, deadline=deadline(), unattended=True, caller=caller)
    if (wait_s := postponed_s(outcome, BUSY_S)) is not None:
        queue.send(event, wait_s)
        queue.ack(receipt)
    elif outcome.failed:
        failure = outcome.failure or UpstreamFailed(outcome.body["error"]["message"], retryable=False)
        _failed(queue, receipt, event, backends, failure)
    else:
        queue.ack(receipt)
    return True


def _failed(queue: WorkQueue, receipt: str, event: Mapping[str, Any], backends: Backends, failure: Failure) -> None:
    """Log the failure. If the call is given up, its job is marked as stalled."""
    reason, arguments = str(failure), event["arguments"]
    fields = {"tool": event["tool"], "query_key": arguments.get("query_key"), "job_id": arguments.get("job_id")}
    wait_s = queue.fail(receipt, reason, retryable=failure.retryable)
    if wait_s is not None:
        log.warning("a queued call failed and is tried again in %.0f s: %s", wait_s, reason, extra=fields)
        return
    log.error("a queued call failed and was given up: %s", reason, extra=fields)
    if fields["job_id"]:
        stall(fields["job_id"], reason, backends)


class QueueWorker:
    """A thread that works through the queue until it is stopped; use it in `with`.

    Stopped during a call, it lets the call reach its next checkpoint, from where the next worker continues.
    """

    def __init__(
        self, queue: WorkQueue, tools: Mapping[str, Tool], backends: Backends, *, idle_s: float = IDLE_S
    ) -> None:
        self._work: Callable[[], bool] = lambda: work_once(queue, tools, backends, self._next_deadline)
        self._idle_s = idle_s
        self._stop = threading.Event()
        self._deadline = Deadline(CALL_S)
        self._thread = threading.Thread(target=self._run, name="bio-mcp-worker", daemon=True)

    def __enter__(self) -> "QueueWorker":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._deadline.expire()
        self._thread.join(timeout=STOP_S)

    def _next_deadline(self) -> Deadline:
        self._deadline = Deadline(CALL_S)
        if self._stop.is_set():
            self._deadline.expire()
        return self._deadline

    def _run(self) -> None:
        trouble = ""
        while not self._stop.is_set():
            try:
                busy, trouble = self._work(), ""
            except Failure as failure:
                if str(failure) != trouble:  # logged once, not at every poll of a read-only corpus
                    log.warning("queue: %s", failure)
                busy, trouble = False, str(failure)
            if not busy:
                self._stop.wait(self._idle_s)
