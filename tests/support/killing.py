"""A program that runs something and kills itself on the way, again and again, as the tests of killed runs ask."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def killing(module: str) -> Iterator[Callable[..., int]]:
    """Start `module`; each call has it do one run with these arguments, and gives the run's exit code."""
    command, one_thread = [sys.executable, "-m", module], os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=one_thread, text=True, **pipes) as started:

        def run(*arguments: Any) -> int:
            print(json.dumps(arguments), file=started.stdin, flush=True)
            return int(started.stdout.readline())

        yield run
