"""Importing records, over a real store and index."""

import gc
from itertools import islice

import pytest

from bio_mcp.errors import NcbiUnreadable, StoreFailed
from bio_mcp.literature.medline import OddRecord
from bio_mcp.literature.records import AbstractSection, Article, Deletion
from bio_mcp.syncing.importing import ALLOCATIONS, corpus_size, import_records
from tests.doors.command_line import sample
from tests.support.corpus import Corpus
from tests.support.memory_corpus import article


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path) as made:
        yield made


def records(many):
    return list(islice(sample(), many))


def counts(report):
    return report.inserted, report.updated, report.skipped, report.deleted


def test_a_second_import_changes_nothing_and_embeds_nothing(corpus):
    import_records(records(30), corpus)
    before = corpus.model.embedded
    assert counts(import_records(records(30), corpus)) == (0, 0, 30, 0)
    assert corpus.model.embedded == before


def test_deletions_of_an_update_file_are_applied(corpus):
    given = records(30)
    import_records(given, corpus)
    report = import_records([Deletion(given[0].pmid), Deletion("999999999")], corpus)
    assert (report.read, counts(report)) == (2, (0, 0, 0, 1))
    assert counts(import_records([Deletion(given[0].pmid)], corpus)) == (0, 0, 0, 0)
    assert corpus_size(corpus).documents == 29
    assert corpus.documents.get_many([given[0].pmid]) == {}


def test_what_stood_before_a_break_is_in_the_corpus(corpus):
    def broken():
        yield from records(7)
        raise NcbiUnreadable("the file is cut short")

    report = import_records(broken(), corpus, batch=5)
    assert (report.read, report.inserted, report.problem) == (7, 7, "the file is cut short")
    assert corpus_size(corpus).indexed == 7


def test_odd_records_are_left_out_and_named_by_their_position(corpus):
    first, *rest = records(7)
    report = import_records([first, OddRecord("Odd."), *rest, *[OddRecord("Odd, too.")] * 9], corpus, batch=5)
    assert (report.read, report.inserted, report.odd, report.problem) == (7, 7, 10, None)
    assert report.reasons[:2] == ["record 2: Odd.", "record 9: Odd, too."]
    assert len(report.reasons) == 5


def test_a_record_that_is_too_large_to_be_read_is_named_by_its_position(corpus):
    def too_large():
        yield from records(7)
        raise OddRecord("Too large.")

    assert import_records(too_large(), corpus).problem == "record 8: Too large."


def test_an_abstract_of_a_thousand_sentences_is_odd_and_is_never_embedded(corpus):
    endless = Article("1", abstract=(AbstractSection(None, None, "a. B" * 5_000),))
    report = import_records([endless, *records(1)], corpus)
    assert (report.inserted, report.odd) == (1, 1)
    assert "PMID 1 has more than" in report.reasons[0]


def test_a_store_that_fails_ends_the_import_and_keeps_what_was_settled(corpus):
    def then_full(done, _total, _note):
        if done >= 10:
            raise StoreFailed("no space is left")

    with pytest.raises(StoreFailed, match="no space"):
        import_records(records(30), corpus, then_full, batch=5)
    assert corpus_size(corpus).indexed == 10
    assert counts(import_records(records(30), corpus)) == (20, 0, 10, 0)


def test_garbage_is_looked_for_rarely_during_an_import_and_as_before_after_it(corpus):
    usual, seen = gc.get_threshold(), []
    import_records([article("1")], corpus, lambda *_: seen.append((gc.get_threshold()[0], gc.get_freeze_count() > 0)))
    assert set(seen) == {(ALLOCATIONS, True)}
    assert (gc.get_threshold(), gc.get_freeze_count()) == (usual, 0)
