"""Further processes that serve the same listening socket: Python runs on one core, however many there are."""

import logging
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence

RESTART_S = 1.0  # before a process that died is replaced
PER_CORE = 4  # most processes by default: each holds the model and the index, some 300 MB

log = logging.getLogger(__name__)


def by_default() -> int:
    """One process a core; one in all where sockets cannot be handed on."""
    return min(os.cpu_count() or 1, PER_CORE) if os.name == "posix" else 1


class Processes:
    """`count` processes that run `command`, replaced when they die, and told to stop at the end of `with`.

    `command` is given the number of the socket's file. A process's standard input ends when we do, however we end.
    """

    def __init__(self, count: int, opened: socket.socket, command: Callable[[int], Sequence[str]]) -> None:
        self._command = command(opened.fileno())
        self._opened = opened
        self._stopping = threading.Event()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._changing = threading.Lock()
        self._count = count
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Processes":
        """Start all processes."""
        for place in range(self._count):
            keeper = threading.Thread(target=self._keep_up, args=(place, self._start(place)), daemon=True)
            self._threads.append(keeper)
            keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        for each in self._threads:
            each.join()
        self._opened.close()

    def stop(self) -> None:
        """Tell all of them to finish what they are answering."""
        with self._changing:
            self._stopping.set()
            for process in self._running.values():
                process.terminate()

    def _keep_up(self, place: int, process: subprocess.Popen[bytes] | None) -> None:
        while process is not None:
            code = process.wait()
            if process.stdin:
                process.stdin.close()
            if not self._stopping.wait(RESTART_S):
                log.warning("a serving process ended (%d) and is replaced", code)
            process = self._start(place)

    def _start(self, place: int) -> subprocess.Popen[bytes] | None:
        with self._changing:
            if self._stopping.is_set():
                return None
            number = self._opened.fileno()
            self._running[place] = subprocess.Popen(self._command, stdin=subprocess.PIPE, pass_fds=[number])
            return self._running[place]


def when_our_starter_ends(stop: Callable[[], None]) -> None:
    """Call `stop` in a thread when standard input ends, in a process that `Processes` started."""

    def wait() -> None:
        while os.read(0, 1_024):  # not through `sys.stdin`, which Python cannot close while a thread reads
            pass
        stop()

    threading.Thread(target=wait, daemon=True).start()
