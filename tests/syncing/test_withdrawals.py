"""Papers that PubMed withdraws go, and no outage, cut answer or wrong server ever takes one away."""

from datetime import date, timedelta

import pytest

from bio_mcp.call import call
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import Conflict, Failure, NcbiUnreadable
from bio_mcp.syncing import queries, withdrawals
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.delta import sync_delta
from bio_mcp.syncing.withdrawals import MOST_GONE, SHARES, check_withdrawals
from bio_mcp.tools.sync_delta import sync_delta as sync_tool
from tests.support.corpus import Corpus, Over
from tests.support.memory_corpus import article
from tests.support.retracting import plain_papers, term

DAY = date(2026, 1, 1)
EMPTY_SET = "<?xml version='1.0'?><PubmedArticleSet></PubmedArticleSet>"
NO_SUMMARIES = '{"header":{},"result":{"uids":[]},"error":"Invalid uid 1 at position=0"}'
NO_HITS = '{"esearchresult":{"count":"0","idlist":[],"querytranslation":""}}'


@pytest.fixture
def pmids(ncbi):
    return plain_papers(ncbi, 40)


@pytest.fixture
def corpus(tmp_path, ncbi, pmids):
    with Corpus(tmp_path, ncbi.base_url, DAY) as made:
        day(made, ncbi, 0)
        sync_delta("k", term(pmids), 5, made, NEVER, lambda *_: None)
        yield made


def day(corpus, ncbi, number):
    corpus.day = DAY + timedelta(days=number)
    ncbi.control.set_today(f"{corpus.day:%Y/%m/%d}")


def look(corpus, deadline=NEVER, whole=True):
    return check_withdrawals(corpus, deadline, lambda *_: None, whole=whole)


def stored(corpus):
    return set(corpus.documents.pmids())


def test_withdrawn_papers_go_on_the_second_day_are_reported_and_found_no_more(corpus, ncbi, pmids):
    imported = article("999000001", "Imported and withdrawn.")
    apply_records([imported], corpus)
    gone = {pmids[0], pmids[7], imported.pmid}
    ncbi.control.withdraw([int(pmids[0]), int(pmids[7])])
    before = corpus.heard.all
    first = look(corpus)
    assert (first.state, first.processed, first.skipped) == ("complete", 41, 41)
    assert any("another day" in each and pmids[0] in each for each in first.warnings)
    assert look(corpus).skipped == 41  # the same day says nothing new
    assert gone <= stored(corpus)
    day(corpus, ncbi, 1)
    second = look(corpus)
    assert (second.state, second.skipped) == ("complete", 38)
    assert any("withdrew 3 papers" in each and pmids[0] in each for each in second.warnings)
    assert stored(corpus) == set(pmids) - gone
    assert corpus.passages.count()[0] == 38
    assert {(kind, pmid) for kind, pmid, _ in corpus.heard.since(before)} == {("deleted", pmid) for pmid in gone}
    assert look(corpus).warnings == ()


@pytest.mark.parametrize("withdrawn_before", [True, False])
def test_a_look_under_a_clock_that_was_ahead_changes_nothing_of_those_after_it(corpus, ncbi, pmids, withdrawn_before):
    years = timedelta(days=4 * 365)
    ahead = Over(corpus, now=lambda: corpus.now() + years, today=lambda: corpus.day + years)
    if withdrawn_before:
        ncbi.control.withdraw([int(pmids[0])])
    look(ahead)
    ncbi.control.withdraw([int(pmids[0])])
    look(corpus)
    day(corpus, ncbi, 1)
    look(corpus)
    assert stored(corpus) == set(pmids[1:])


def test_a_suspect_of_a_day_to_come_is_one_of_today(corpus, ncbi, pmids):
    job = corpus.jobs.get(look(corpus).job_id)
    job.cursor["suspects"] = {pmids[0]: "2030-01-01"}
    corpus.jobs.put(job)
    ncbi.control.withdraw([int(pmids[0])])
    look(corpus)
    assert pmids[0] in stored(corpus)
    day(corpus, ncbi, 1)
    look(corpus)
    assert stored(corpus) == set(pmids[1:])


def test_a_paper_that_comes_back_stays_and_is_suspected_again(corpus, ncbi, pmids):
    whole = ncbi.control.record(int(pmids[0]))
    ncbi.control.withdraw([int(pmids[0])])
    look(corpus)
    ncbi.control.put(f"<PubmedArticleSet>{whole}</PubmedArticleSet>")
    day(corpus, ncbi, 1)
    assert look(corpus).warnings == ()
    ncbi.control.withdraw([int(pmids[0])])
    day(corpus, ncbi, 2)
    assert "another day" in look(corpus).warnings[0]
    assert stored(corpus) == set(pmids)


@pytest.mark.parametrize(
    "wrong",
    [
        [{"endpoint": "esearch", "term": "[uid]", "status": 200, "body": NO_HITS, "content_type": "application/json"}],
        [{"endpoint": "efetch", "status": 200, "body": EMPTY_SET, "content_type": "text/xml"}],
        [{"endpoint": "esummary", "status": 200, "body": NO_SUMMARIES, "content_type": "application/json"}],
        [{"endpoint": each, "status": 503} for each in ("esearch", "efetch", "esummary")],
    ],
    ids=["no hits", "no records", "no summaries", "down"],
)
def test_days_of_bad_answers_delete_nothing_that_is_there(corpus, ncbi, pmids, wrong):
    ncbi.control.withdraw([int(pmids[0])])
    for number in range(4):
        day(corpus, ncbi, number)
        for fault in wrong:
            ncbi.control.fault(**fault, times=6)
        try:
            look(corpus)
        except Failure:
            assert corpus.jobs.latest(withdrawals.KIND, withdrawals.QUERY_KEY).state == "waiting"
        ncbi.control.clear_faults()
    assert stored(corpus) >= set(pmids[1:])


def test_an_answer_that_does_not_return_what_is_there_is_a_failure(corpus, ncbi, pmids):
    ncbi.control.withdraw([int(pmids[0])])
    ncbi.control.fault(endpoint="efetch", status=200, body=EMPTY_SET, content_type="text/xml", times=10)
    with pytest.raises(NcbiUnreadable, match="just found"):
        look(corpus)


def test_an_ncbi_that_finds_no_paper_at_all_is_a_failure(corpus, ncbi):
    ncbi.control.fault(endpoint="esearch", status=200, body=NO_HITS, content_type="application/json", times=10)
    with pytest.raises(NcbiUnreadable, match="no paper at all"):
        look(corpus)


def test_another_ncbi_that_knows_few_of_the_papers_takes_none_away(corpus, ncbi, pmids):
    ncbi.control.withdraw([int(each) for each in pmids[: MOST_GONE + 1]])
    for number in range(3):
        day(corpus, ncbi, number)
        [warning] = look(corpus).warnings
        assert "too many to believe" in warning
    assert stored(corpus) == set(pmids)


def test_each_night_looks_at_another_seventh_and_at_what_was_suspected(corpus, ncbi, pmids):
    ncbi.control.withdraw([int(each) for each in pmids[:3]])
    seen = 0
    for number in range(SHARES + 1):
        day(corpus, ncbi, number)
        seen += look(corpus, whole=False).processed
    assert seen == 40 + 3 + len([each for each in pmids[3:] if int(each) % SHARES == 0])
    assert stored(corpus) == set(pmids[3:])


class Ticking:
    """A clock that moves a second whenever it is read."""

    now = 0.0

    def __call__(self):
        self.now += 1
        return self.now


def test_a_look_near_its_deadline_goes_on_through_the_queue(corpus, ncbi, pmids):
    ncbi.control.withdraw([int(pmids[0])])
    report = look(corpus, deadline=Deadline(3, Ticking()))
    assert (report.state, report.processed) == ("continues", 0)
    _, event = corpus.continuations.receive(60)
    done = call(sync_tool, event["arguments"], corpus, unattended=True).body
    assert (done["state"], done["job_id"], done["pmids_processed"]) == ("complete", report.job_id, 40)


def test_two_looks_at_once_are_one(corpus):
    corpus.leases.acquire(f"{withdrawals.KIND}:{withdrawals.QUERY_KEY}", "somebody else", 60)
    with pytest.raises(Conflict, match="is running"):
        look(corpus)


@pytest.mark.parametrize("unattended", [True, False])
def test_the_nightly_look_for_retractions_queues_one_for_withdrawals(corpus, unattended):
    arguments = {"query_key": queries.RETRACTIONS_KEY, "term": queries.RETRACTIONS_TERM, "known_only": True}
    assert call(sync_tool, arguments, corpus, unattended=unattended).body["state"] == "complete"
    queued = corpus.continuations.receive(60)
    assert (queued is not None) == unattended
    if queued:
        assert queued[1]["arguments"]["query_key"] == withdrawals.QUERY_KEY
