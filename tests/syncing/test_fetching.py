"""What NCBI lists and does not deliver, whole or in part, for a while or for good."""

import logging
from datetime import date, timedelta

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.errors import NcbiFailed, NcbiUnreadable
from bio_mcp.syncing.cursor import LAST_PATIENCE, MISSING_DAYS
from bio_mcp.syncing.delta import sync_delta
from tests.support.corpus import Corpus
from tests.support.retracting import plain_papers, term

DAY = date(2026, 1, 1)
NOTHING = "<?xml version='1.0'?><PubmedArticleSet></PubmedArticleSet>"


@pytest.fixture
def corpus(tmp_path, ncbi):
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, DAY) as made:
        yield made


@pytest.fixture
def pmids(ncbi):
    return plain_papers(ncbi, 40)


def run(corpus, pmids, overlap=5):
    return sync_delta("k", term(pmids), overlap, corpus, NEVER, lambda *_: None)


def night(corpus, ncbi, number):
    corpus.day = DAY + timedelta(days=number)
    ncbi.control.set_today(f"{corpus.day:%Y/%m/%d}")


def send_nothing(ncbi, times=10_000):
    ncbi.control.fault(endpoint="efetch", status=200, content_type="text/xml", body=NOTHING, times=times)


def stored(corpus, pmids):
    return set(corpus.documents.heads(pmids))


def test_empty_answers_are_no_sync_and_nothing_is_lost_when_ncbi_is_well_again(corpus, ncbi, pmids):
    send_nothing(ncbi)
    for number in range(MISSING_DAYS + 2):
        night(corpus, ncbi, number)
        report = run(corpus, pmids)
        assert (report.state, report.processed) == ("incomplete", 0)
        assert any("not delivered" in each and pmids[0] in each for each in report.warnings)
        assert corpus.checkpoints.get("k").windows == {}
    ncbi.control.clear_faults()
    healed = run(corpus, pmids)
    assert (healed.state, healed.inserted, healed.warnings) == ("complete", len(pmids), ())
    assert stored(corpus, pmids) == set(pmids)


def test_an_empty_answer_is_asked_for_again_in_the_same_run(corpus, ncbi, pmids):
    send_nothing(ncbi, times=1)
    report = run(corpus, pmids)
    assert (report.state, report.inserted, report.warnings) == ("complete", len(pmids), ())


def test_empty_answers_one_after_the_other_are_an_outage(corpus, ncbi):
    ncbi.control.clone(400, "2025/12/01", sources=[int(each) for each in plain_papers(ncbi, 1)])
    send_nothing(ncbi)
    with pytest.raises(NcbiUnreadable, match="none of the"):
        sync_delta("k", "all[sb]", 5, corpus, NEVER, lambda *_: None)
    assert corpus.documents.count() == 0


def test_pmids_that_are_never_delivered_hold_the_watermark_for_a_week_and_are_given_up_aloud(
    corpus, ncbi, pmids, caplog
):
    ncbi.control.withhold([int(each) for each in pmids[:3]])
    caplog.set_level(logging.WARNING, "bio_mcp.syncing.delta")
    for number in range(MISSING_DAYS):
        night(corpus, ncbi, number)
        report = run(corpus, pmids)
        assert report.state == "incomplete"
        assert any(", ".join(sorted(pmids[:3], key=int)) in each for each in report.warnings)
        assert corpus.checkpoints.get("k").windows == {}
    assert caplog.records == []
    night(corpus, ncbi, MISSING_DAYS)
    report = run(corpus, pmids)
    assert report.state == "complete"
    [warning], [record] = report.warnings, caplog.records
    assert "given up" in warning
    assert pmids[0] in record.getMessage() == warning
    assert corpus.checkpoints.get("k").windows["edat"] == "2026-01-07"


def test_what_was_given_up_holds_no_later_run_and_comes_when_it_is_delivered(corpus, ncbi, pmids):
    ncbi.control.withhold([int(pmids[0])])
    for number in (0, MISSING_DAYS, MISSING_DAYS + 1):
        night(corpus, ncbi, number)
        state = run(corpus, pmids, overlap=10_000).state
    assert state == "complete"
    ncbi.control.withhold([])
    assert run(corpus, pmids, overlap=10_000).inserted == 1
    assert stored(corpus, pmids) == set(pmids)


def test_several_runs_a_day_give_nothing_up_sooner(corpus, ncbi, pmids):
    ncbi.control.withhold([int(pmids[0])])
    assert {run(corpus, pmids).state for _ in range(MISSING_DAYS + 1)} == {"incomplete"}


@pytest.mark.parametrize("status", [500, 503])
def test_one_pmid_that_ncbi_fails_at_costs_only_itself(corpus, ncbi, pmids, status):
    bad = pmids[17]
    ncbi.control.fault(endpoint="efetch", pmid=int(bad), status=status, times=10_000)
    report = run(corpus, pmids)
    assert (report.state, report.failed, report.inserted) == ("incomplete", 1, len(pmids) - 1)
    assert any(bad in warning for warning in report.warnings)
    assert stored(corpus, pmids) == set(pmids) - {bad}


def test_an_outage_at_the_end_is_an_error_once_hammers_nobody_and_holds_no_run_for_ever(corpus, ncbi, pmids):
    ncbi.control.fault(endpoint="efetch", status=500, times=10_000)
    ncbi.control.clear_requests()
    with pytest.raises(NcbiFailed) as caught:
        run(corpus, pmids)
    assert corpus.jobs.get(caught.value.details["job_id"]).state == "waiting"
    tries = 6  # of each request
    assert len(ncbi.control.requests("efetch")) == tries * (1 + LAST_PATIENCE)
    report = run(corpus, pmids)
    assert (report.job_id, report.state) == (caught.value.details["job_id"], "incomplete")
    assert report.failed == len(pmids)
    ncbi.control.clear_faults()
    assert (run(corpus, pmids).inserted, stored(corpus, pmids)) == (len(pmids), set(pmids))
