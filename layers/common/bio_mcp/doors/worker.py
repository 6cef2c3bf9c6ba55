"""The local queue's worker: makes the calls that a tool asked to have made later."""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from bio_mcp.call import call
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure
from bio_mcp.ports import Backends
from bio_mcp.tool import Tool

log = logging.getLogger("bio_mcp.worker")

IDLE_S = 2.0  # between two looks into an empty queue
CALL_S = 300.0  # for one call; a sync that needs longer queues itself again
MARGIN_S = 60.0  # a message is delivered again this long after its call should have ended


class Queue(Protocol):
    """The receiving end of `Continuations`."""

    def receive(self, lease_s: float) -> tuple[str, dict[str, Any]] | None: ...
    def ack(self, receipt: str) -> None: ...
    def fail(self, receipt: str, reason: str) -> None: ...


def work_once(queue: Queue, tools: Mapping[str, Tool], backends: Backends) -> bool:
    """Take one message and make its call; False when the queue is empty. A failed call is tried again, then parked."""
    message = queue.receive(CALL_S + MARGIN_S)
    if message is None:
        return False
    receipt, event = message
    tool = tools.get(event["tool"])
    if tool is None:
        queue.fail(receipt, f"there is no tool {event['tool']}")
        return True
    outcome = call(tool, event["arguments"], backends, deadline=Deadline(CALL_S))
    if outcome.failed:
        queue.fail(receipt, outcome.body["error"]["message"])
    else:
        queue.ack(receipt)
    return True


class Worker:
    """A thread that empties the queue until it is stopped; `with Worker(...)`: starts and stops."""

    def __init__(self, queue: Queue, tools: Mapping[str, Tool], backends: Backends) -> None:
        self._work: Callable[[], bool] = lambda: work_once(queue, tools, backends)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bio-mcp-worker", daemon=True)

    def __enter__(self) -> "Worker":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=IDLE_S)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                busy = self._work()
            except Failure as failure:
                log.warning("queue: %s", failure)
                busy = False
            if not busy:
                self._stop.wait(IDLE_S)
