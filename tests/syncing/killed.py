"""Runs that kill themselves, each in a fork of `python -m tests.syncing.killed`, which prints its exit code.

A line of standard input has the arguments of a run; here `[HOME, "PORT.METHOD", NTH, "before" or "after", BASE_URL,
TERM]`. The process gets SIGKILL, as from the kernel when memory runs out, right before or after the NTH call of that
method.
"""

import json
import os
import signal
import sys
from datetime import date
from pathlib import Path
from typing import ClassVar

from bio_mcp.deadline import NEVER
from bio_mcp.syncing.delta import sync_delta
from tests.support.corpus import SlowCorpus
from tests.support.hooked import Hooked, at


class Doomed:
    """Backends one of whose ports is deadly."""

    deadly: ClassVar = {}

    def __getattribute__(self, name):
        return type(self).deadly.get(name) or super().__getattribute__(name)

    def armed(self, step, nth, when):
        port, method = step.split(".")
        die = at({int(nth)}, lambda: os.kill(os.getpid(), signal.SIGKILL))
        type(self).deadly = {port: Hooked(getattr(self, port), method, **{when: die})}
        return self


class DoomedCorpus(Doomed, SlowCorpus):
    """A corpus one of whose ports is deadly."""


def sync(home, step, nth, when, base_url, term):
    corpus = DoomedCorpus(Path(home), base_url, date(2026, 1, 1)).armed(step, nth, when)
    sync_delta("k", term, 5, corpus, NEVER, lambda *_: None)


def forks(run):
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            return run(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    return None


if __name__ == "__main__":
    forks(sync)
