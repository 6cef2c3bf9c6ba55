"""Runs that kill themselves, each in a fork of `python -m tests.extracting.killed`, which prints its exit code.

A line of standard input is a run: `[HOME, "PORT.METHOD", NTH, "before" or "after"]`.
"""

import json
import os
import sys
from pathlib import Path
from typing import ClassVar

from bio_mcp.extracting.gazetteer import mesh
from tests.extracting.herbarium import Herbarium
from tests.syncing.killed import Deadly


class Doomed(Herbarium):
    """A herbarium one of whose ports is deadly."""

    deadly: ClassVar = {}

    def __getattribute__(self, name):
        return type(self).deadly.get(name) or super().__getattribute__(name)


def run(home, step, nth, when):
    herbarium = Doomed(Path(home))
    port, method = step.split(".")
    Doomed.deadly = {port: Deadly(getattr(herbarium, port), method, nth, when == "after")}
    herbarium.run()


def main():
    mesh()  # read once, for all forks
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            return run(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    return None


if __name__ == "__main__":
    main()
