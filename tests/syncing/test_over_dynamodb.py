"""The sync's main promises once more, with what it keeps in DynamoDB and its queue in SQS."""

import os
import signal
import subprocess
import sys

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.syncing.delta import lease_name, sync_delta
from tests.support import moto_server
from tests.support.aws_ports import NOBODY, AwsPorts, MotoPorts
from tests.syncing.over_dynamodb import DAY, ONE_DAY, OverDynamoDB


@pytest.fixture(autouse=True)
def nobody(monkeypatch):
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    ports = MotoPorts()
    with OverDynamoDB(tmp_path, ncbi.base_url, DAY).on(ports) as it:
        yield it
    ports.close()


def run(corpus, deadline=NEVER, overlap=5):
    return sync_delta("k", ONE_DAY, overlap, corpus, deadline, lambda *_: None)


def heads(corpus, ncbi):
    return corpus.documents.heads([str(pmid) for pmid in ncbi.control.pmids("crdt", "2021/06/06", "2021/06/06")])


@pytest.fixture(scope="module")
def server():
    with moto_server.running() as address:
        yield address


@pytest.mark.parametrize(
    ("step", "nth", "when"),
    [("documents.mark_indexed", 2, "before"), ("checkpoints.advance", 1, "after")],
)
def test_a_sync_killed_anywhere_is_healed_once_its_lease_has_run_out(tmp_path, ncbi, server, step, nth, when):
    ncbi.control.set_today("2026/01/01")
    ports = AwsPorts(endpoint=server)
    given = [tmp_path, step, nth, when, ncbi.base_url, server, ports.prefix]
    command = [sys.executable, "-m", "tests.syncing.over_dynamodb", *map(str, given)]
    died = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **NOBODY})
    assert died.returncode == -signal.SIGKILL, died.stderr
    with OverDynamoDB(tmp_path, ncbi.base_url, DAY).on(AwsPorts(endpoint=server, prefix=ports.prefix), 400) as corpus:
        assert not ports.leases.acquire(lease_name("k"), "too early", 1)
        assert run(corpus).state == "complete"
        found = heads(corpus, ncbi)
        wanted = [str(pmid) for pmid in ncbi.control.pmids("crdt", "2021/06/06", "2021/06/06")]
        assert sorted(found) == sorted(wanted)
        assert {(head.version, head.indexed_version) for head in found.values()} == {(1, 1)}
        assert corpus.passages.count()[0] == corpus.documents.count() == len(wanted)
