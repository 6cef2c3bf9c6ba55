"""Standard output of a process that answers another one on it."""

import os
import sys
from typing import IO


def own_stdout() -> IO[bytes]:
    """A stream to standard output for answers alone; what else is written there goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers
