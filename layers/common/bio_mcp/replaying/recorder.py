"""Records calls behind their backs: what was read is noted by reference, and stored by a thread after the answer."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import Full, Queue
from threading import Lock, Thread
from typing import Any

from bio_mcp.errors import Failure
from bio_mcp.ports import Backends
from bio_mcp.ports.calls import CallRecord, Calls
from bio_mcp.replaying.inputs import inputs_of
from bio_mcp.replaying.reads import dumps
from bio_mcp.replaying.watching import Watched
from bio_mcp.tenants import stored_name

log = logging.getLogger("bio_mcp.replaying")

WAITING = 200  # calls at most; further ones are not recorded
CLOSING_S = 5.0
STORING_S = 2.0  # that an answer waits for it, where it does

Entry = Callable[[], None]


class CallRecorder:
    """The port `Recorder` over `calls`. `background`: a thread stores, for a process that goes on after an answer."""

    def __init__(self, calls: Callable[[], Calls], *, background: bool = True) -> None:
        self._calls = calls
        self._background = background
        self._waiting: Queue[Entry | None] = Queue(WAITING)
        self._thread: Thread | None = None
        self._lock = Lock()

    def watch(self, backends: Backends) -> "Watch":
        """Watch a call that is given `backends`."""
        return Watch(self, backends, Watched(backends))

    def store(self, entry: Entry) -> None:
        """Call `entry`, which stores a call: at once, or soon."""
        if not self._background:
            alone = Thread(target=_store, args=(entry,), name="recording a call", daemon=True)
            alone.start()  # in a thread, whose failures are its own
            alone.join(STORING_S)
            return
        try:
            self._waiting.put_nowait(entry)
        except Full:
            log.info("a call was not recorded: too many wait")
            return
        if self._thread is None or not self._thread.is_alive():
            self._start()

    def add(self, call: CallRecord) -> None:
        """Store the call in the log."""
        self._calls().record(call)

    def close(self) -> None:
        """Store what waits, as far as it takes no longer than some seconds."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None and thread.is_alive():
            self._waiting.put(None)
            thread.join(CLOSING_S)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, name="recording calls", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while (entry := self._waiting.get()) is not None:
            _store(entry)


@dataclass(frozen=True, slots=True)
class Watch:
    """A call that is watched; it is to be given `backends`."""

    recorder: CallRecorder
    original: Backends
    watched: Watched

    @property
    def backends(self) -> Backends:
        """What the call reads from."""
        return self.watched.backends

    def record(self, tool: str, arguments: Mapping[str, Any], audit: Mapping[str, Any]) -> None:
        """Record the call, if its answer depends on what is stored and is no error; never raises."""
        if audit["status"] == "ok":
            self.recorder.store(lambda: self._record(tool, arguments, audit))

    def _record(self, tool: str, arguments: Mapping[str, Any], audit: Mapping[str, Any]) -> None:
        reads = self.watched.notes.reads()
        if not reads:
            return
        taken = {name: audit[name] for name in ("correlation_id", "in_hash", "out_hash", "status", "latency_ms")}
        taken["correlation_id"] = stored_name(self.original, taken["correlation_id"])
        inputs = inputs_of(self.original, reads)
        at = self.original.now()
        self.recorder.add(
            CallRecord(tool=tool, arguments=dict(arguments), at=at, inputs=inputs, read=dumps(reads), **taken)
        )


def _store(entry: Entry) -> None:
    try:
        entry()
    except Failure as failure:
        log.info("a call was not recorded: %s", failure)
