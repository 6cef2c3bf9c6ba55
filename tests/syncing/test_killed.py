"""kill -9 of a real process at each step of a sync, and the run that heals it."""

import signal
from datetime import date

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.syncing.delta import sync_delta
from tests.support.corpus import Corpus
from tests.support.killing import killing

STEPS = [
    "leases.acquire",
    "entrez.esearch",
    "entrez.efetch",
    "documents.put",
    "passages.upsert_chunks",
    "passages.refresh",
    "announcements.publish",
    "documents.mark_indexed",
    "jobs.put",
    "checkpoints.advance",
    "leases.release",
]
ONCE = {"checkpoints.advance", "leases.release"}
ONCE_A_BATCH = {"entrez.efetch", "documents.put", "jobs.put"}
TWO_SLICES, TWO_BATCHES = ("2021/06/06", "2021/06/06"), ("2021/06/05", "2021/06/07")  # days of creation


@pytest.fixture(scope="module")
def killed():
    """Runs one sync that kills itself, and gives its exit code."""
    with killing("tests.syncing.killed") as run:
        yield run


@pytest.mark.parametrize(
    ("step", "nth", "when"),
    [(step, 1, when) for step in STEPS for when in ("before", "after")]
    + [(step, 2, "after") for step in STEPS if step not in ONCE],
)
def test_a_sync_killed_anywhere_is_healed_by_the_next_run(tmp_path, ncbi, killed, step, nth, when):
    ncbi.control.set_today("2026/01/01")
    first, last = TWO_BATCHES if nth == 2 and step in ONCE_A_BATCH else TWO_SLICES
    term = f'"{first}"[crdt] : "{last}"[crdt]'
    assert killed(str(tmp_path), step, nth, when, ncbi.base_url, term) == -signal.SIGKILL
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as corpus:
        if step not in ONCE:
            assert corpus.checkpoints.get("k").last_edat is None
        report = sync_delta("k", term, 5, corpus, NEVER, lambda *_: None)
        wanted = sorted(str(pmid) for pmid in ncbi.control.pmids("crdt", first, last))
        heads = corpus.documents.heads(wanted)
        assert report.state == "complete"
        assert sorted(heads) == wanted
        assert {(head.version, head.indexed_version) for head in heads.values()} == {(1, 1)}
        assert corpus.passages.count()[0] == corpus.documents.count() == len(wanted)
        assert set(corpus.heard.all) == {("new", pmid, "1") for pmid in wanted}
        reported = corpus.heard.all
        again = sync_delta("k", term, 10_000, corpus, NEVER, lambda *_: None)
        assert (again.inserted, again.updated, again.skipped) == (0, 0, len(wanted))
        assert corpus.heard.since(reported) == []
