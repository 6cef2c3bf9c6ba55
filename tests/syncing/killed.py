"""A sync that kills itself: `python -m tests.syncing.killed HOME BASE_URL PORT.METHOD NTH before|after`.

The process gets SIGKILL, as from the kernel when memory runs out, right before or after the NTH call of that method.
"""

import os
import signal
import sys
from datetime import date
from pathlib import Path

from bio_mcp.deadline import NEVER
from bio_mcp.syncing.delta import sync_delta
from tests.corpus import Corpus

FROM, TO = "2021/06/05", "2021/06/07"
TERM = f'"{FROM}"[crdt] : "{TO}"[crdt]'  # two batches


class Deadly:
    """A port whose method kills the process."""

    def __init__(self, port, method, nth, after):
        self.port, self.method, self.nth, self.after, self.calls = port, method, nth, after, 0

    def __getattr__(self, name):
        real = getattr(self.port, name)
        return self._deadly(real) if name == self.method else real

    def _deadly(self, real):
        def call(*args, **kwargs):
            self.calls += 1
            if self.calls == self.nth and not self.after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = real(*args, **kwargs)
            if self.calls == self.nth:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call


class Doomed(Corpus):
    """A corpus one of whose ports is deadly."""

    def arm(self, port, deadly):
        self.deadly = {port: deadly}
        return self

    def __getattribute__(self, name):
        found = vars(type(self)) and super().__getattribute__("__dict__").get("deadly", {}).get(name)
        return found or super().__getattribute__(name)


def main(home, base_url, step, nth, when):
    corpus = Doomed(Path(home), base_url, date(2026, 1, 1))
    port, method = step.split(".")
    corpus.arm(port, Deadly(getattr(corpus, port), method, int(nth), when == "after"))
    sync_delta("k", TERM, 5, corpus, NEVER, lambda *_: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
