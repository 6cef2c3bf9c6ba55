"""The corpus of the sync's tests with everything but passages in DynamoDB, S3 and SQS, at some endpoint.

As a program, a sync over it that kills itself, as `tests.syncing.killed` says; BASE_URL, ENDPOINT, PREFIX are last.
"""

import sys
import time
from datetime import date
from pathlib import Path

from bio_mcp.deadline import NEVER
from bio_mcp.syncing.delta import sync_delta
from tests.support.aws_ports import AwsPorts
from tests.support.corpus import Corpus, SlowCorpus
from tests.syncing.killed import Doomed

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


class DoomedOverDynamoDB(Doomed, OverDynamoDB, SlowCorpus):
    """One of its ports is deadly."""


def main(home, step, nth, when, base_url, endpoint, prefix):
    corpus = DoomedOverDynamoDB(Path(home), base_url, DAY).on(AwsPorts(endpoint=endpoint, prefix=prefix))
    sync_delta("k", ONE_DAY, 5, corpus.armed(step, nth, when), NEVER, lambda *_: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
