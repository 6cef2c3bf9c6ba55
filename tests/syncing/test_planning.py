"""How large a sync may be before somebody confirms it, and that nothing happens before."""

from datetime import date

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import Deadline
from bio_mcp.syncing import queries
from bio_mcp.syncing.cursor import TOOL
from tests.support.corpus import Corpus, Over

SYNC = TOOLS[TOOL]
TERM = "all[sb]"


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    ncbi.control.withdraw(ncbi.control.pmids()[12:])
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as it:
        yield it


@pytest.fixture
def matching(corpus):
    """How many records PubMed has for the term."""
    found = corpus.entrez.esearch(TERM, deadline=Deadline(60), retmax=1).count
    assert found > 3
    return found


def ask(corpus, most, *, deadline=None, progress=None, unattended=False, **more):
    sized, given = Over(corpus, sync_max_records=most), {"query_key": "k", "term": TERM, **more}
    return call(SYNC, given, sized, deadline=deadline, progress=progress, unattended=unattended).body


def test_a_sync_beyond_the_size_is_refused_with_its_count_and_how_to_confirm_it(corpus, matching):
    error = ask(corpus, 2)["error"]
    assert error["code"] == "VALIDATION"
    assert f"PubMed has {matching} records for this sync. More than 2 take a confirmation" in error["message"]
    assert f"give {matching} here to read them all" in error["message"]
    assert (error["details"]["count"], error["details"]["max_records"]) == (matching, 2)


def test_nothing_is_stored_of_a_sync_that_was_refused(corpus, matching):
    ask(corpus, matching - 1)
    assert corpus.documents.count() == 0
    assert corpus.checkpoints.all() == []
    assert corpus.jobs.latest("sync", "k") is None
    assert ask(corpus, matching)["state"] == "complete"  # and nobody holds its lease


def test_a_confirmed_sync_is_whole(corpus, matching):
    assert ask(corpus, 2, max_records=matching)["inserted"] == matching
    assert "error" in ask(corpus, 1_000, max_records=1, overlap_days=100_000)  # a smaller number narrows


def test_a_sync_that_goes_on_is_not_asked_about_again(corpus, matching):
    deadline = Deadline(100)
    first = ask(corpus, 2, max_records=matching, deadline=deadline, progress=lambda *_: deadline.expire())
    assert first["state"] == "continues"
    assert ask(corpus, 2)["state"] == "complete"


def test_only_what_is_new_since_the_last_sync_counts(corpus, matching, ncbi):
    ask(corpus, matching)
    assert ask(corpus, 2)["state"] == "complete"
    assert "error" in ask(corpus, 2, overlap_days=100_000)


@pytest.mark.parametrize("given", [{"known_only": True}, {"unattended": True}], ids=["known papers", "unattended"])
def test_what_adds_no_paper_or_nobody_could_confirm_is_never_asked_about(corpus, given):
    assert ask(corpus, 1, **given)["state"] == "complete"


def test_the_nightly_sync_of_retractions_is_never_asked_about(corpus):
    nightly = {"query_key": queries.RETRACTIONS_KEY, "term": queries.RETRACTIONS_TERM, "known_only": True}
    assert "error" not in call(SYNC, nightly, Over(corpus, sync_max_records=1)).body
