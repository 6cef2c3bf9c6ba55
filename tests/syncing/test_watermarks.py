"""Clocks that are wrong: a watermark never passes the day that it is at NCBI."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.ports import PortOver
from bio_mcp.syncing.delta import sync_delta
from bio_mcp.syncing.windows import FIELDS
from tests.support.corpus import Corpus, Over

DAY = date(2026, 1, 10)
EVERYTHING = "all[sb]"
FUTURE = "2027-02-14"


@pytest.fixture
def corpus(tmp_path, ncbi):
    set_day(ncbi, DAY)
    ncbi.control.withdraw(ncbi.control.pmids()[20:])
    with Corpus(tmp_path, ncbi.base_url, DAY) as made:
        yield made


def set_day(ncbi, day):
    ncbi.control.set_today(f"{day:%Y/%m/%d}")


def run(corpus, overlap=5):
    return sync_delta("k", EVERYTHING, overlap, corpus, NEVER, lambda *_: None)


def stored(corpus, ncbi):
    return set(corpus.documents.heads([str(pmid) for pmid in ncbi.control.pmids()]))


def everything(ncbi):
    return {str(pmid) for pmid in ncbi.control.pmids()}


@pytest.mark.parametrize("wrong", [-4000, 30, 400])
def test_five_nights_after_a_sync_with_a_wrong_clock_nothing_is_lost(corpus, ncbi, wrong):
    corpus.day = DAY + timedelta(days=wrong)
    report = run(corpus, overlap=0)
    assert report.state == "complete"
    assert any(("ahead of NCBI" if wrong > 0 else "behind NCBI") in each for each in report.warnings)
    for night in range(1, 6):
        corpus.day = DAY + timedelta(days=night)
        set_day(ncbi, corpus.day)
        ncbi.control.clone(4, f"{corpus.day:%Y/%m/%d}", first=90_000_000 + 10 * night)
        assert run(corpus, overlap=0).state == "complete"
    assert stored(corpus, ncbi) == everything(ncbi)
    assert corpus.checkpoints.get("k").windows["crdt"] == str(corpus.day - timedelta(days=1))


@pytest.mark.parametrize("back", [2, 40, 400])
def test_a_clock_that_was_set_back_is_said_and_the_sync_goes_by_ncbis_day(corpus, ncbi, back):
    run(corpus)
    before, later = corpus.checkpoints.get("k").windows, DAY + timedelta(days=20)
    set_day(ncbi, later)
    ncbi.control.clone(4, f"{later:%Y/%m/%d}")
    corpus.day = DAY - timedelta(days=back)
    report = run(corpus, overlap=0)
    assert (report.state, report.inserted) == ("complete", 4)
    [warning] = report.warnings
    assert f"{20 + back} days behind NCBI's; correct it" in warning
    assert corpus.checkpoints.get("k").windows["edat"] == str(later - timedelta(days=1)) > before["edat"]
    assert stored(corpus, ncbi) == everything(ncbi)


class WithoutDay(PortOver):
    """PubMed behind a proxy that takes the time away."""

    def esearch(self, term, **options):
        return replace(self._over.esearch(term, **options), day=None)


def test_where_ncbi_does_not_say_its_day_a_clock_behind_the_watermark_is_said_and_the_watermark_stays(corpus, ncbi):
    run(corpus)
    before = corpus.checkpoints.get("k")
    corpus.day = DAY - timedelta(days=9)
    report = run(Over(corpus, entrez=WithoutDay(corpus.entrez)), overlap=0)
    assert report.state == "incomplete"
    [warning] = report.warnings
    assert "behind the watermark of 'k'" in warning
    assert corpus.checkpoints.get("k") == before
    corpus.day = DAY
    assert run(Over(corpus, entrez=WithoutDay(corpus.entrez)), overlap=0).state == "complete"


def in_the_future(corpus, ncbi, last_edat):
    """A watermark as a clock that was ahead has left it, and records that came since."""
    run(corpus)
    last_edat = last_edat or corpus.checkpoints.get("k").last_edat
    corpus.checkpoints.set("k", last_edat, dict.fromkeys(FIELDS, FUTURE), EVERYTHING)
    ncbi.control.clone(4, f"{DAY:%Y/%m/%d}")
    corpus.day = DAY + timedelta(days=20)
    set_day(ncbi, corpus.day)


@pytest.mark.parametrize("last_edat", ["", f"{FUTURE}T05:00:00Z"], ids=["seen records", "itself in the future"])
def test_a_stored_watermark_in_the_future_is_drawn_back_and_reported(corpus, ncbi, last_edat):
    in_the_future(corpus, ncbi, last_edat)
    report = run(corpus, overlap=0)
    assert (report.state, report.inserted) == ("complete", 4)
    assert any(FUTURE in each and "drawn back" in each for each in report.warnings)
    assert set(corpus.checkpoints.get("k").windows.values()) == {str(corpus.day - timedelta(days=1))}
    assert stored(corpus, ncbi) == everything(ncbi)


def test_it_is_drawn_back_by_ncbis_day_where_the_clock_is_still_ahead(corpus, ncbi):
    in_the_future(corpus, ncbi, "")
    corpus.day = date(2027, 6, 1)
    report = run(corpus, overlap=0)
    assert (report.state, report.inserted) == ("complete", 4)
    assert any("drawn back" in each for each in report.warnings)
    assert set(corpus.checkpoints.get("k").windows.values()) == {str(DAY + timedelta(days=19))}
    assert run(corpus, overlap=0).inserted == 0


def test_other_terms_of_the_key_stay_where_they_are(corpus, ncbi):
    other = corpus.checkpoints.advance("k", "other", "2026-01-05T00:00:00Z", dict.fromkeys(FIELDS, "2026-01-05"))
    in_the_future(corpus, ncbi, "")
    run(corpus)
    assert corpus.checkpoints.get("k", "other") == other
