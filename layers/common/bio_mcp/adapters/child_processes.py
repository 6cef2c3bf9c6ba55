"""Processes of this package that another process of it starts and asks."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO


def own_stdout() -> IO[bytes]:
    """A stream to standard output for answers alone; what else is written there goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def start_module(
    module: str, *arguments: str, environment: Mapping[str, str], stderr: IO[bytes] | int
) -> subprocess.Popen[bytes]:
    """Start `module` with this interpreter and its paths, standard input and output as pipes.

    It is given `environment` and nothing else of this process's. It is in a session of its own: an interrupt at the
    terminal does not reach it, and it can be killed together with what it starts.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**environment, "PYTHONPATH": os.pathsep.join(str(Path(each).absolute()) for each in sys.path)},
        start_new_session=True,
    )
