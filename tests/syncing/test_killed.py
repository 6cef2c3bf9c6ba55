"""kill -9 of a real process at each step of a sync, and the run that heals it."""

import signal
import subprocess
import sys
from datetime import date

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.syncing.delta import sync_delta
from tests.corpus import Corpus
from tests.syncing.killed import FROM, TERM, TO

STEPS = [
    "leases.acquire",
    "entrez.esearch",
    "entrez.efetch",
    "documents.put",
    "passages.upsert_chunks",
    "announcements.publish",
    "documents.mark_indexed",
    "jobs.put",
    "checkpoints.advance",
    "leases.release",
]
ONCE = {"checkpoints.advance", "leases.release"}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("step", "nth"), [(step, nth) for step in STEPS for nth in (1, 2) if nth == 1 or step not in ONCE]
)
def test_a_sync_killed_anywhere_is_healed_by_the_next_run(tmp_path, ncbi, step, nth, when):
    ncbi.control.set_today("2026/01/01")
    command = [sys.executable, "-m", "tests.syncing.killed", str(tmp_path), ncbi.base_url, step, str(nth), when]
    died = subprocess.run(command, check=False, capture_output=True, text=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as corpus:
        if step not in ONCE:
            assert corpus.checkpoints.get("k").last_edat is None
        report = sync_delta("k", TERM, 5, corpus, NEVER, lambda *_: None)
        wanted = sorted(str(pmid) for pmid in ncbi.control.pmids("crdt", FROM, TO))
        heads = corpus.documents.heads(wanted)
        assert report.state == "complete"
        assert sorted(heads) == wanted
        assert {(head.version, head.indexed_version) for head in heads.values()} == {(1, 1)}
        assert corpus.passages.count()[0] == corpus.documents.count() == len(wanted)
        assert set(corpus.heard.all) == {("new", pmid, "1") for pmid in wanted}
        told = corpus.heard.all
        again = sync_delta("k", TERM, 10_000, corpus, NEVER, lambda *_: None)
        assert (again.inserted, again.updated, again.skipped) == (0, 0, len(wanted))
        assert corpus.heard.since(told) == []
