"""Processes of this package that another process of it starts and asks."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, cast


def own_stdout() -> IO[bytes]:
    """A stream to standard output for answers alone; what else is written there goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


class ChildProcess:
    """A process that runs `module` with this interpreter and its paths, standard input and output as pipes.

    It is given `environment` and nothing else of this process's. It is in a session of its own: an interrupt at the
    terminal does not reach it, and it can be killed together with what it starts.
    """

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str], stderr: IO[bytes] | int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**environment, "PYTHONPATH": os.pathsep.join(str(Path(each).absolute()) for each in sys.path)},
            start_new_session=True,
        )
        self._input, self._output = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)

    def kill(self) -> None:
        """Kill the whole group. Its number cannot be another's: the process was not waited for yet."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def end(self) -> int:
        """Kill the process with all that it started, and return its exit code."""
        self.kill()
        for stream in (self._input, self._output):
            with contextlib.suppress(OSError):
                stream.close()
        return self._process.wait()
