"""Importing the records of a file, over a real store and index."""

import gc

import pytest

from bio_mcp.errors import StoreFailed
from bio_mcp.syncing.importing import ALLOCATIONS, corpus_size, import_files
from bio_mcp.syncing.pubmed_files import listed
from tests.support.corpus import Corpus
from tests.syncing.medline_files import content, record, write


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path / "home") as made:
        yield made


@pytest.fixture
def imported(corpus, tmp_path):
    """Import a file of these records, of which nothing was imported before."""

    def of(records, deleted=(), read=lambda each: each):
        path = tmp_path / "given.xml"
        path.write_bytes(read(content(records, deleted)))
        [report] = import_files(listed([path]), corpus)
        return report

    return of


def papers(many):
    return [record(pmid) for pmid in range(1, many + 1)]


def counts(report):
    return report.inserted, report.updated, report.skipped, report.deleted


def test_a_second_import_changes_nothing_and_embeds_nothing(corpus, imported):
    imported(papers(30))
    before = corpus.model.embedded
    assert counts(imported(papers(30))) == (0, 0, 30, 0)
    assert corpus.model.embedded == before


def test_deletions_of_an_update_file_are_applied(corpus, imported):
    imported(papers(30))
    report = imported([], deleted=["1", "999999999"])
    assert (report.read, counts(report)) == (2, (0, 0, 0, 1))
    assert counts(imported([], deleted=["1"])) == (0, 0, 0, 0)
    assert corpus_size(corpus).documents == 29
    assert corpus.documents.get_many(["1"]) == {}


def test_what_stood_before_a_break_is_in_the_corpus(corpus, imported):
    report = imported(papers(8), read=lambda whole: whole[: whole.rindex(b"</Abstract>")])
    assert (report.read, report.inserted, corpus_size(corpus).indexed) == (7, 7, 7)
    assert "cut short" in report.problem


def test_odd_records_are_left_out_and_named_by_their_position(imported):
    first, *rest = papers(7)
    report = imported([first, record("x"), *rest, *[record("")] * 9])
    assert (report.read, report.inserted, report.odd, report.problem) == (7, 7, 10, None)
    assert [each.partition(":")[0] for each in report.reasons] == ["record 2", *(f"record {at}" for at in range(9, 13))]


def test_a_record_that_is_too_large_to_be_read_is_named_by_its_position(imported):
    report = imported([*papers(7), record(8, "<a/>" * 1_100_000)])
    assert report.problem.startswith("record 8: It has more than")


def test_an_abstract_of_a_thousand_sentences_is_odd_and_is_never_embedded(imported):
    report = imported([record(1, "a. B" * 5_000), record(2)])
    assert (report.inserted, report.odd) == (1, 1)
    assert "PMID 1 has more than" in report.reasons[0]


def test_a_store_that_fails_ends_the_import_and_keeps_what_was_settled(corpus, tmp_path):
    write(tmp_path, 1, papers(10))
    write(tmp_path, 2, papers(30))

    def then_full(_done, _total, records):
        if int(records) >= 10:
            raise StoreFailed("no space is left")

    with pytest.raises(StoreFailed, match="no space"):
        import_files(listed([tmp_path]), corpus, then_full)
    assert corpus_size(corpus).indexed == 10
    assert [counts(each) for each in import_files(listed([tmp_path]), corpus)] == [(0, 0, 10, 0), (20, 0, 10, 0)]


def test_garbage_is_looked_for_rarely_during_an_import_and_as_before_after_it(corpus, tmp_path):
    usual, seen = gc.get_threshold(), []
    files = listed([write(tmp_path, 1, papers(1))])
    import_files(files, corpus, lambda *_: seen.append((gc.get_threshold()[0], gc.get_freeze_count() > 0)))
    assert set(seen) == {(ALLOCATIONS, True)}
    assert (gc.get_threshold(), gc.get_freeze_count()) == (usual, 0)
