"""The corpus of the sync's tests with everything but passages in DynamoDB, S3 and SQS, at some endpoint.

As a program, a sync over it that kills itself: as `tests.syncing.killed`, with ENDPOINT and PREFIX behind.
"""

import sys
import time
from datetime import date
from pathlib import Path

from bio_mcp.deadline import NEVER
from bio_mcp.syncing.delta import sync_delta
from tests.support.aws_ports import AwsPorts
from tests.support.corpus import Corpus
from tests.syncing.killed import Deadly, Doomed

DAY = date(2026, 1, 1)
ONE_DAY = '"2021/06/06"[crdt]'  # 63 records: two slices


class OverDynamoDB(Corpus):
    """`ports` keeps what the corpus knows; `later_s` is how far its leases' clock is ahead."""

    def on(self, ports, later_s=0):
        self.ports = ports
        ports.clock = lambda: time.time() + later_s
        return self

    documents = property(lambda self: self.ports.documents)
    checkpoints = property(lambda self: self.ports.checkpoints)
    jobs = property(lambda self: self.ports.jobs)
    leases = property(lambda self: self.ports.leases)
    continuations = property(lambda self: self.ports.continuations)


class DoomedOverDynamoDB(OverDynamoDB, Doomed):
    """One of its ports is deadly."""


def main(home, base_url, step, nth, when, endpoint, prefix):
    corpus = DoomedOverDynamoDB(Path(home), base_url, DAY).on(AwsPorts(endpoint=endpoint, prefix=prefix))
    port, method = step.split(".")
    corpus.arm(port, Deadly(getattr(corpus, port), method, int(nth), when == "after"))
    sync_delta("k", ONE_DAY, 5, corpus, NEVER, lambda *_: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
