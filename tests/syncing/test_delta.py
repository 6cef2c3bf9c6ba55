"""Syncs of real records from the local NCBI into a real corpus."""

import itertools
from datetime import date

import pytest

from bio_mcp.call import call
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import Conflict, InvalidInput, NcbiFailed, NcbiQueryRejected
from bio_mcp.literature.records import Deletion
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.delta import lease_name, sync_delta
from bio_mcp.tools.checkpoint import set_checkpoint
from tests.support.corpus import Corpus, Over
from tests.support.hooked import Hooked, at
from tests.syncing.stored import gone

EVERYTHING = "all[sb]"
DAY = date(2026, 1, 1)
TRIES = 6  # of one request, before it counts as failed


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, DAY) as it:
        yield it


@pytest.fixture
def few(ncbi):
    """90 records, which are one batch of three slices, instead of all."""
    ncbi.control.withdraw(ncbi.control.pmids()[90:])


def run(corpus, term=EVERYTHING, key="k", overlap=5, deadline=NEVER):
    return sync_delta(key, term, overlap, corpus, deadline, lambda *_: None)


def everything(ncbi):
    return {str(pmid) for pmid in ncbi.control.pmids()}


def heads(corpus, ncbi):
    return corpus.documents.heads(sorted(everything(ncbi)))


def test_a_first_sync_brings_every_record_exactly_once(corpus, ncbi):
    report = run(corpus)
    wanted = everything(ncbi)
    assert (report.state, report.inserted, report.updated, report.failed) == ("complete", len(wanted), 0, 0)
    assert report.processed == len(wanted)
    found = heads(corpus, ncbi)
    assert found.keys() == wanted
    assert {(head.version, head.indexed_version) for head in found.values()} == {(1, 1)}
    assert corpus.passages.count()[0] == len(wanted)


def test_a_second_run_changes_nothing(corpus, ncbi):
    run(corpus)
    before, checkpoint, embedded = heads(corpus, ncbi), corpus.checkpoints.get("k"), corpus.model.embedded
    report = run(corpus, overlap=10_000)
    assert (report.inserted, report.updated, report.failed) == (0, 0, 0)
    assert report.skipped == report.processed == len(before)
    assert heads(corpus, ncbi) == before
    assert corpus.checkpoints.get("k") == checkpoint
    assert corpus.model.embedded == embedded


@pytest.mark.usefixtures("few")
def test_the_public_watermark_is_the_newest_entry_date_and_the_windows_close_yesterday(corpus, ncbi):
    report = run(corpus)
    checkpoint = corpus.checkpoints.get("k")
    assert checkpoint.last_edat == report.max_edat
    assert checkpoint.last_edat.endswith("Z")
    assert dict(checkpoint.windows) == dict.fromkeys(("edat", "crdt", "mdat"), "2025-12-31")


def test_records_created_long_after_their_entry_date_are_found(tmp_path, ncbi):
    """EDAT is set to the publication date when PubMed creates a record a year late: [edat] alone never sees it."""
    ncbi.control.set_today("2021/06/03")
    with Corpus(tmp_path, ncbi.base_url, date(2021, 6, 3)) as corpus:
        run(corpus)
    ncbi.control.set_today("2026/01/01")
    created = set(ncbi.control.pmids("crdt", "2021/06/04", "2026/01/01"))
    late = created & set(ncbi.control.pmids("edat", "1900/01/01", "2021/05/01"))
    assert late
    with Corpus(tmp_path, ncbi.base_url, DAY) as corpus:
        assert run(corpus, overlap=0).inserted == len(created)
        assert heads(corpus, ncbi).keys() == everything(ncbi)


@pytest.mark.usefixtures("few")
def test_a_revision_date_alone_raises_the_version_and_embeds_nothing(corpus, ncbi):
    run(corpus)
    pmid = min(everything(ncbi), key=int)
    embedded = corpus.model.embedded
    ncbi.control.revise(int(pmid), "2025/12/31")
    report = run(corpus, overlap=0)
    assert (report.updated, report.inserted) == (1, 0)
    assert corpus.documents.heads([pmid])[pmid].version == 2
    assert corpus.model.embedded == embedded


@pytest.mark.usefixtures("few")
def test_changed_text_raises_the_version_once_and_embeds_only_what_changed(corpus, ncbi):
    run(corpus)
    pmid, windows = longest(corpus, ncbi)
    embedded = corpus.model.embedded
    word = windows[-1].text.split()[-1]
    ncbi.control.revise(int(pmid), "2025/12/31", {windows[-1].text[-40:]: f"{windows[-1].text[-40:-1]} zyzzyva."})
    report = run(corpus, overlap=0)
    assert report.updated == 1
    assert corpus.documents.heads([pmid])[pmid].version == 2
    assert 1 <= corpus.model.embedded - embedded < len(windows), word
    assert "zyzzyva" in corpus.passages.chunks([pmid])[pmid][-1].text
    assert run(corpus, overlap=10).updated == 0


def longest(corpus, ncbi):
    chunks = corpus.passages.chunks(sorted(everything(ncbi)))
    return max(chunks.items(), key=lambda item: len(item[1]))


def test_a_batch_that_fails_in_the_middle_is_fetched_again_before_the_run_ends(corpus, ncbi):
    ncbi.control.fault(endpoint="efetch", nth=2, status=503, times=TRIES)
    report = run(corpus)
    assert (report.state, report.failed) == ("complete", 0)
    assert heads(corpus, ncbi).keys() == everything(ncbi)


def test_a_record_that_cannot_be_read_holds_the_watermark_and_costs_only_itself(corpus, ncbi):
    bad = sorted(everything(ncbi), key=int)[300]
    ncbi.control.fault(endpoint="efetch", pmid=int(bad), cut=200, times=10_000)
    report = run(corpus)
    assert (report.state, report.failed) == ("incomplete", 1)
    assert report.inserted == len(everything(ncbi)) - 1
    assert report.inserted + report.updated + report.skipped + report.failed == report.processed
    assert any(bad in warning for warning in report.warnings)
    assert corpus.checkpoints.get("k").last_edat is None
    ncbi.control.clear_faults()
    healed = run(corpus)
    assert (healed.state, healed.inserted) == ("complete", 1)
    assert corpus.checkpoints.get("k").last_edat is not None


def test_an_outage_is_an_error_and_the_job_waits_where_it_stood(corpus, ncbi):
    ncbi.control.fault(endpoint="efetch", nth=2, status=502, times=10_000)
    with pytest.raises(NcbiFailed) as caught:
        run(corpus)
    job = corpus.jobs.get(caught.value.details["job_id"])
    assert job.state == "waiting"
    assert corpus.checkpoints.get("k").last_edat is None
    done = corpus.documents.count()
    assert 0 < done < len(everything(ncbi))
    ncbi.control.clear_faults()
    report = run(corpus)
    assert report.job_id == job.job_id
    assert (report.state, report.inserted) == ("complete", len(everything(ncbi)))


def test_a_run_that_is_just_starting_elsewhere_is_a_conflict_to_try_again(corpus):
    assert corpus.leases.acquire(lease_name("k"), "somebody else", 60)
    with pytest.raises(Conflict, match="just starting"):
        run(corpus)


@pytest.mark.parametrize("ended", [False, True])
def test_a_run_that_loses_its_lease_writes_nothing_more_though_the_other_one_has_ended(corpus, ncbi, ended):
    jobs = []

    def stolen(done, _total, _message):
        if done and not jobs:
            corpus.leases.release(lease_name("k"), holder_of(corpus))
            assert corpus.leases.acquire(lease_name("k"), "thief", 60)
            if ended:
                corpus.leases.release(lease_name("k"), "thief")
            jobs.extend(corpus.jobs.newest("sync", 9))

    with pytest.raises(Conflict, match="took over"):
        sync_delta("k", EVERYTHING, 5, corpus, NEVER, stolen)
    assert corpus.jobs.newest("sync", 9) == jobs
    assert corpus.documents.count() < len(everything(ncbi))
    assert corpus.checkpoints.get("k").last_edat is None


def test_what_a_sync_was_given_before_a_paper_was_deleted_does_not_bring_it_back_and_the_next_one_does(corpus, ncbi):
    pmid = sorted(everything(ncbi), key=int)[0]
    run(corpus)
    deleting = at([1], lambda: apply_records([Deletion(pmid)], corpus))
    late = Over(corpus, entrez=Hooked(corpus.entrez, "efetch", after=deleting))
    sync_delta("other", EVERYTHING, 5, late, NEVER, lambda *_: None)
    assert pmid not in corpus.documents.heads([pmid])
    assert corpus.documents.count() == corpus.passages.count()[0] == len(everything(ncbi)) - 1
    sync_delta("third", EVERYTHING, 5, corpus, NEVER, lambda *_: None)
    assert corpus.documents.heads([pmid])[pmid].version == 2
    assert corpus.documents.count() == corpus.passages.count()[0] == len(everything(ncbi))


def holder_of(corpus):
    with corpus.database.reading() as connection:
        [(holder,)] = connection.execute("SELECT holder FROM leases WHERE name = ?", (lease_name("k"),))
    return holder


class Ticking:
    """A clock that moves a second whenever it is read."""

    def __init__(self):
        self.ticks = itertools.count()

    def __call__(self):
        return float(next(self.ticks))


def test_a_run_near_its_deadline_stops_at_a_boundary_and_goes_on_through_the_queue(corpus, ncbi):
    report = run(corpus, deadline=Deadline(40, Ticking()))
    assert report.state == "continues"
    calls = 1
    while report.state == "continues":
        assert corpus.checkpoints.get("k").last_edat is None
        message, event = corpus.continuations.receive(60)
        assert event["tool"] == "pubmed.sync_delta"
        report = run(corpus, event["arguments"]["term"], deadline=Deadline(40, Ticking()))
        corpus.continuations.ack(message)
        calls += 1
    assert calls > 2
    assert (report.state, report.inserted, report.skipped) == ("complete", len(everything(ncbi)), 0)
    assert corpus.continuations.receive(60) is None


def test_a_term_that_pubmed_knows_nothing_of_syncs_nothing_and_not_the_whole_of_pubmed(corpus, ncbi):
    report = run(corpus, "qqxyzzyq")
    assert (report.state, report.processed, report.expected) == ("complete", 0, 0)
    assert any("nothing was synced" in warning for warning in report.warnings)
    assert corpus.documents.count() == 0
    assert ncbi.control.requests("efetch") == []
    ncbi.control.revise(ncbi.control.pmids()[0], "2025/12/31", {"<ArticleTitle>": "<ArticleTitle>Qqxyzzyq "})
    found = run(corpus, "qqxyzzyq")
    assert (found.state, found.inserted, found.warnings) == ("complete", 1, ())


@pytest.mark.parametrize("term", ["(cancer", "cancer) OR (x", "   "])
def test_a_term_that_cannot_be_combined_is_refused_before_anything_is_asked(corpus, ncbi, term):
    ncbi.control.clear_requests()
    with pytest.raises(InvalidInput):
        run(corpus, term)
    assert ncbi.control.requests() == []


def test_a_term_that_ncbi_rejects_fails_the_job_for_good(corpus, ncbi):
    with pytest.raises(NcbiQueryRejected) as caught:
        run(corpus, "cancer AND AND[")
    assert corpus.jobs.get(caught.value.details["job_id"]).state == "failed"


@pytest.mark.usefixtures("few")
def test_another_term_under_the_same_key_is_read_from_the_first_day_and_reported(corpus, ncbi):
    run(corpus, "cancer")
    report = run(corpus, EVERYTHING)
    assert any("another term" in warning for warning in report.warnings)
    assert heads(corpus, ncbi).keys() == everything(ncbi)
    assert run(corpus, "cancer", overlap=0).processed == 0


def test_another_term_under_the_same_key_neither_ends_nor_skips_an_unfinished_load(corpus, ncbi):
    assert run(corpus, deadline=Deadline(40, Ticking())).state == "continues"
    assert run(corpus, "cancer").state == "complete"
    report = run(corpus)
    while report.state == "continues":
        report = run(corpus)
    assert (report.state, report.expected) == ("complete", len(everything(ncbi)))
    assert heads(corpus, ncbi).keys() == everything(ncbi)
    assert corpus.passages.count()[0] == len(everything(ncbi))


@pytest.mark.usefixtures("few")
def test_another_term_waits_for_the_one_that_runs(corpus):
    others = []

    def meanwhile(*_):
        with pytest.raises(Conflict, match="another term") as caught:
            run(corpus, "cancer")
        others.append(caught.value.retryable)

    sync_delta("k", EVERYTHING, 5, corpus, NEVER, meanwhile)
    assert all(others)


@pytest.mark.usefixtures("few")
def test_bringing_known_papers_up_to_date_moves_no_watermark(corpus, ncbi):
    report = sync_delta("k", EVERYTHING, 5, corpus, NEVER, lambda *_: None, known_only=True)
    assert (report.state, report.inserted) == ("complete", 0)
    assert run(corpus).inserted == len(everything(ncbi))


def test_moving_a_key_ends_the_unfinished_jobs_of_all_its_terms(corpus):
    assert run(corpus, deadline=Deadline(40, Ticking())).state == "continues"
    run(corpus, "cancer")
    done = call(set_checkpoint, {"query_key": "k", "last_edat": "2025-01-01T12:00:00Z"}, corpus)
    assert done.body == {"ok": True}
    assert corpus.jobs.latest("sync", "k", EVERYTHING).state == "failed"
    assert corpus.checkpoints.get("k", EVERYTHING).windows == {}


@pytest.mark.usefixtures("few")
def test_the_watermark_moved_back_reads_again(corpus, ncbi):
    run(corpus)
    corpus.documents.delete(gone(*sorted(everything(ncbi))[:3]))
    assert run(corpus, overlap=0).inserted == 0
    corpus.checkpoints.set("k", "1900-01-01T05:00:00Z", dict.fromkeys(("edat", "crdt", "mdat"), "1900-01-01"))
    assert run(corpus).inserted == 3


@pytest.mark.parametrize("overlap", [2**31, 2**63, 2**80])
def test_an_overlap_longer_than_history_reads_everything(corpus, overlap):
    run(corpus, "cancer")
    first = corpus.documents.count()
    assert run(corpus, "cancer", overlap=overlap).processed == first
