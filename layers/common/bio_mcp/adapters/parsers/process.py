"""A child process that parses, as its parent sees it: asked for one file at a time, ended with all that it started."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Timer
from time import monotonic
from typing import IO, Any, cast

from bio_mcp.adapters.child_processes import start_module
from bio_mcp.adapters.parsers.frames import read_line, request
from bio_mcp.deadline import call_deadline

MODULE = "bio_mcp.adapters.parsers.child"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may take: `memory` in bytes, `seconds` in all, `quiet_s` seconds without a sign of progress."""

    memory: int
    seconds: float
    quiet_s: float
    pages: int


class Child:
    """A process that reads one file after the other. Not for several threads.

    `has_file`: it has received the file that it was last asked about; one that ends before was not ended by it.
    It is given `environment` and nothing else of the parent's, so that a file that takes it over finds no key there.
    """

    def __init__(self, limits: Limits, *, reader: str, tesseract: str, environment: Mapping[str, str]) -> None:
        self._limits = limits
        self.timed_out = self.has_file = False
        given = {"memory": limits.memory, "pages": limits.pages, "reader": reader, "tesseract": tesseract}
        self._process = start_module(
            MODULE,
            json.dumps(given),
            environment={**environment, "OMP_THREAD_LIMIT": "1"},
            stderr=subprocess.DEVNULL,
        )

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return not self.timed_out and self._process.poll() is None

    def ask(self, content: bytes, name: str, languages: Sequence[str]) -> dict[str, Any] | None:
        """Have a file read; None when the process ended, or was ended, without an answer. Raises `frames.Broken`."""
        self.has_file = False
        with self._watched() as heard:
            with contextlib.suppress(BrokenPipeError):
                self._input.write(request(content, name, languages))
                self._input.write(content)
                self._input.flush()
            while (answer := read_line(self._output)) == {}:
                self.has_file = True
                heard()
            return answer

    def end(self) -> int:
        """Kill the process with all that it started, and return its exit code."""
        self._kill()
        for stream in (self._input, self._output):
            with contextlib.suppress(OSError):
                stream.close()
        return self._process.wait()

    @contextmanager
    def _watched(self) -> Iterator[Callable[[], None]]:
        """Kill the process at the end of its time; what is yielded is called at each sign of progress."""
        end = monotonic() + min(self._limits.seconds, call_deadline().remaining)
        timer = self._timer(end)

        def heard() -> None:
            nonlocal timer
            timer.cancel()
            timer = self._timer(end)

        try:
            yield heard
        finally:
            timer.cancel()

    def _timer(self, end: float) -> Timer:
        timer = Timer(max(0.0, min(self._limits.quiet_s, end - monotonic())), self._give_up)
        timer.daemon = True
        timer.start()
        return timer

    def _give_up(self) -> None:
        self.timed_out = True
        self._kill()

    def _kill(self) -> None:
        """Kill the whole group. Its number cannot be another's: the process was not waited for yet."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    @property
    def _input(self) -> IO[bytes]:
        return cast(IO[bytes], self._process.stdin)

    @property
    def _output(self) -> IO[bytes]:
        return cast(IO[bytes], self._process.stdout)
