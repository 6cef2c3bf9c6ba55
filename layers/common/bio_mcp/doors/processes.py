"""Further processes that serve the same listening socket: one Python process uses one core."""

import logging
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence

RESTART_S = 1.0  # before a process that died is restarted
MAX_DEFAULT = 4  # processes: each has the model and the index in memory, some 300 MB

log = logging.getLogger(__name__)


def default_count() -> int:
    """The default number of processes: one per core, up to `MAX_DEFAULT`; one where sockets cannot be inherited."""
    return min(os.cpu_count() or 1, MAX_DEFAULT) if os.name == "posix" else 1


class Processes:
    """`count` processes that run `command`, restarted when they die and stopped at the end of `with`.

    `command` receives the socket's file descriptor. A process's standard input ends when this process does, however it
    ends.
    """

    def __init__(self, count: int, listener: socket.socket, command: Callable[[int], Sequence[str]]) -> None:
        self._command = command(listener.fileno())
        self._socket = listener
        self._stopping = threading.Event()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()
        self._count = count
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Processes":
        """Start all processes."""
        for index in range(self._count):
            supervisor = threading.Thread(target=self._supervise, args=(index, self._start(index)), daemon=True)
            self._threads.append(supervisor)
            supervisor.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        for thread in self._threads:
            thread.join()
        self._socket.close()

    def stop(self) -> None:
        """Ask all processes to finish their requests and end."""
        with self._lock:
            self._stopping.set()
            for process in self._running.values():
                process.terminate()

    def _supervise(self, index: int, process: subprocess.Popen[bytes] | None) -> None:
        while process is not None:
            code = process.wait()
            if process.stdin:
                process.stdin.close()
            if not self._stopping.wait(RESTART_S):
                log.warning("a serving process ended (%d) and is restarted", code)
            process = self._start(index)

    def _start(self, index: int) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._stopping.is_set():
                return None
            number = self._socket.fileno()
            self._running[index] = subprocess.Popen(self._command, stdin=subprocess.PIPE, pass_fds=[number])
            return self._running[index]


def when_parent_ends(stop: Callable[[], None]) -> None:
    """Call `stop` in a thread when standard input ends, in a process that `Processes` started."""

    def wait() -> None:
        while os.read(0, 1_024):  # not through `sys.stdin`, which Python cannot close while a thread reads
            pass
        stop()

    threading.Thread(target=wait, daemon=True).start()
