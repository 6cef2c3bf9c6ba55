"""Ingests that kill themselves, each in a fork of `python -m tests.ingesting.killed`, which prints its exit code.

A line of standard input is an ingest: `[HOME, "PORT.METHOD", NTH, "before" or "after"]`.
"""

import json
import os
import sys
from pathlib import Path
from typing import ClassVar

from tests.ingesting.library import Library
from tests.syncing.killed import Deadly


class Doomed(Library):
    """A library one of whose ports is deadly."""

    deadly: ClassVar = {}

    def __getattribute__(self, name):
        return type(self).deadly.get(name) or super().__getattribute__(name)


def ingest(home, step, nth, when):
    library = Doomed(Path(home))
    port, method = step.split(".")
    Doomed.deadly = {port: Deadly(getattr(library, port), method, nth, when == "after")}
    library.ingest()


def main():
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            return ingest(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    return None


if __name__ == "__main__":
    main()
