"""The sync's main promises once more, with what it keeps in DynamoDB and its queue in SQS."""

import os
import signal
import subprocess
import sys

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.literature.records import Deletion
from bio_mcp.syncing.applying import apply_records
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


def test_a_first_sync_brings_every_record_and_a_second_one_changes_nothing(corpus, ncbi):
    report = run(corpus)
    before, checkpoint, embedded = heads(corpus, ncbi), corpus.checkpoints.get("k"), corpus.model.embedded
    assert (report.state, report.inserted) == ("complete", len(before))
    assert {(head.version, head.indexed_version) for head in before.values()} == {(1, 1)}
    again = run(corpus, overlap=10_000)
    assert (again.inserted, again.updated, again.skipped) == (0, 0, len(before))
    assert heads(corpus, ncbi) == before
    assert corpus.checkpoints.get("k") == checkpoint
    assert corpus.model.embedded == embedded
    assert corpus.documents.count() == corpus.passages.count()[0] == len(before)


def test_a_revised_record_raises_the_version_and_a_withdrawn_one_is_forgotten(corpus, ncbi):
    run(corpus)
    pmid = min(heads(corpus, ncbi), key=int)
    ncbi.control.revise(int(pmid), "2025/12/31")
    assert run(corpus, overlap=0).updated == 1
    assert (corpus.documents.heads([pmid])[pmid].version, corpus.documents.heads([pmid])[pmid].indexed_version) == (
        2,
        2,
    )
    count = corpus.documents.count()
    apply_records([Deletion(pmid)], corpus)
    apply_records([Deletion(pmid)], corpus)
    assert corpus.documents.count() == count - 1


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
    given = [tmp_path, ncbi.base_url, step, nth, when, server, ports.prefix]
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
