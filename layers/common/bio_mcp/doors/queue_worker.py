"""The worker of the local queue, which makes the calls that tools have queued."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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


@contextmanager
def worker(
    queue: WorkQueue, tools: Mapping[str, Tool], backends: Backends, *, idle_s: float = IDLE_S
) -> Iterator[None]:
    """Work through the queue in a thread until the block ends.

    A call that is made then is let come to its next checkpoint, from where the next worker continues.
    """
    stop, deadline = threading.Event(), Deadline(CALL_S)

    def next_deadline() -> Deadline:
        nonlocal deadline
        deadline = Deadline(CALL_S)
        if stop.is_set():
            deadline.expire()
        return deadline

    def run() -> None:
        trouble = ""
        while not stop.is_set():
            try:
                busy, trouble = work_once(queue, tools, backends, next_deadline), ""
            except Failure as failure:
                if str(failure) != trouble:  # logged once, not at every poll of a read-only corpus
                    log.warning("queue: %s", failure)
                busy, trouble = False, str(failure)
            if not busy:
                stop.wait(idle_s)

    thread = threading.Thread(target=run, name="bio-mcp-worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        deadline.expire()
        thread.join(timeout=STOP_S)
