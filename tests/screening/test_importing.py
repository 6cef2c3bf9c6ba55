"""Files of databases in a review: merged with why, taken apart again, and whole after a run that was killed."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.literature.clock import instant
from bio_mcp.screening.collecting import (
    BY_HAND,
    collect,
    collect_from,
    import_records,
    new_since,
    possible_duplicates,
    search_pubmed,
    split,
)
from bio_mcp.screening.prisma import flow, search_log
from bio_mcp.screening.reviews import create_review, find_record, find_review, review_of
from tests.support.memory_corpus import Corpus, article
from tests.support.sample_corpus import TheseRecords

EXPORTS = Path(__file__).parents[1] / "data/exports"
R = "dinosaurs"


@pytest.fixture
def backends():
    made = Corpus()
    made.pubmed = TheseRecords([article("5", "Cellular structure of scales", doi="10.1000/scales", year=2024)])
    made.audit = SimpleNamespace(record=lambda *_: None)
    made.leases = SimpleNamespace(take=lambda _name: None)
    made.day = datetime(2026, 1, 1, tzinfo=UTC)
    made.now = lambda: made.day
    create_review(R, made)
    return made


def bring(backends, name, **more):
    return import_records(R, (EXPORTS / name).read_bytes(), backends, file=name, **more)


def review(backends):
    return review_of(R, backends.screenings)


def numbers(backends):
    found = flow(review(backends), backends.screenings.searches(R))
    assert found.identified - found.duplicates_removed - found.not_delivered == len(review(backends).records)
    return found.identified, found.duplicates_removed


def test_the_same_records_from_two_formats_are_one_each_with_why(backends):
    assert bring(backends, "embase.csv").new == 10
    done = bring(backends, "embase.ris")
    assert (done.new, len(done.merged), {each.why for each in done.merged}) == (0, 10, {"the same PMID"})
    assert numbers(backends) == (20, 10)
    assert {each.database for each in flow(review(backends), backends.screenings.searches(R)).sources} == {"Embase"}


def test_the_same_file_again_changes_nothing(backends):
    bring(backends, "scopus.csv")
    before = review(backends), backends.screenings.searches(R)
    backends.day += timedelta(days=9)
    again = bring(backends, "scopus.csv")
    assert (again.new, again.known) == (0, 10)
    assert (review(backends), backends.screenings.searches(R)) == before


def test_an_erratum_in_the_export_is_no_duplicate_of_its_paper(backends):
    bring(backends, "embase.csv")
    titles = [each.title for each in review(backends).records]
    assert any(each.startswith("Erratum: Author Correction: A remarkable assemblage") for each in titles)
    assert any(each.startswith("A remarkable assemblage") for each in titles)


def test_the_search_is_in_the_log_with_its_day_and_term(backends):
    bring(backends, "embase.csv")
    bring(backends, "webofscience.ris", term="TS=dinosaur*")
    logged = search_log(backends.screenings.searches(R), None, backends)
    assert [(each.database, each.platform, each.term, each.found) for each in logged] == [
        ("Embase", "Embase.com", "dinosaur:ti", 10),
        ("Web of Science", "Clarivate", "TS=dinosaur*", 10),
    ]
    assert logged[0].at == instant(backends.day)


@pytest.mark.parametrize("survived", range(3))
def test_an_import_that_was_killed_is_whole_after_the_next(backends, survived):
    bring(backends, "embase.csv")
    screenings, puts = backends.screenings, []

    class Dying:
        def __getattr__(self, name):
            return getattr(screenings, name)

        def put(self, name, things):
            puts.append(things)
            screenings.put(name, things[: 3 * survived])
            raise KeyboardInterrupt

    backends.screenings = Dying()
    with pytest.raises(KeyboardInterrupt):
        bring(backends, "scopus.csv")
    backends.screenings = screenings
    done = bring(backends, "scopus.csv")
    assert done.new == len(puts[0]) - len(puts[0][: 3 * survived])
    assert numbers(backends)[0] == 20
    search = screenings.searches(R)[-1]
    assert (search.found, len(search.record_ids)) == (10, 10)


def test_a_paper_of_pubmed_is_the_record_that_an_export_brought_and_is_found_by_both_names(backends):
    table = b"Title,DOI,Authors\nCellular structure of scales,10.1000/scales,Doe J\n"
    import_records(R, table, backends, file="a.csv")
    done = collect(R, ["5"], BY_HAND, backends, NEVER)
    assert (done.new, [each.why for each in done.merged]) == (0, ["the same DOI"])
    [record] = review(backends).records
    assert (record.record_id, record.pmid, record.abstract, record.year) == (
        "doi:10.1000/scales",
        "5",
        "A sentence.",
        2024,
    )
    for name in ("5", "10.1000/SCALES", "https://doi.org/10.1000/scales", "doi:10.1000/scales", "PMID: 5"):
        assert find_record(review(backends), name) == record.record_id
    with pytest.raises(NotFound, match="no paper '6'"):
        find_record(review(backends), "6")
    again = collect(R, ["5"], BY_HAND, backends, NEVER)
    assert (again.new, again.known, len(review(backends).merges)) == (0, 1, 1)
    assert numbers(backends) == (2, 1)


def test_a_merge_that_is_taken_back_makes_two_records_and_stays_taken_back(backends):
    bring(backends, "embase.csv")
    merge = bring(backends, "embase.ris").merged[3]
    record = split(review(backends), merge.merge_id, backends)
    assert numbers(backends) == (20, 9)
    assert record.title == merge.entry.title
    assert [each.merge_id for each in review(backends).merges if each.merge_id == merge.merge_id] == []
    bring(backends, "embase.ris")
    assert numbers(backends) == (20, 9)
    [(_, _, why)] = possible_duplicates(review(backends))
    assert why == "the same PMID; kept apart by hand"
    with pytest.raises(NotFound):
        split(review(backends), merge.merge_id, backends)


def test_a_review_that_is_resumed_has_what_is_new_since(backends):
    search_pubmed(R, "scales[ti]", backends, NEVER)
    backends.day += timedelta(days=100)
    backends.pubmed = TheseRecords([article("5", "Scales"), article("6", "Feathers"), article("7", "Footprints")])
    [done] = collect_from(R, {}, (), backends, NEVER)
    assert (done.new, done.known) == (2, 1)
    searches = backends.screenings.searches(R)
    assert new_since(review(backends), searches, date(2026, 2, 1)) == ["6", "7"]
    assert len(new_since(review(backends), searches, date(2026, 1, 1))) == 3
    assert numbers(backends) == (3, 0)  # the search that was repeated is one


def test_nothing_is_collected_again_where_nothing_was_searched(backends):
    bring(backends, "embase.csv")
    with pytest.raises(InvalidInput, match="could be searched again"):
        collect_from(R, {}, (), backends, NEVER)


@pytest.mark.parametrize("name", ["", "  ", "a:b", "project:lab", "x" * 101, "a\nb"])
def test_a_name_that_no_review_can_have_is_refused(backends, name):
    with pytest.raises(InvalidInput):
        create_review(name, backends)


def test_a_review_that_is_nearly_written_so_is_named(backends):
    with pytest.raises(NotFound, match="did you mean dinosaurs"):
        find_review("dinosaur", backends)
