"""The second index of papers, over passages in a file and a model without weights."""

from contextlib import closing

import pytest

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.multilingual import MultilingualIndex
from bio_mcp.errors import ModelMismatch
from bio_mcp.literature.records import Document
from bio_mcp.retrieval.passages import Filters
from tests.corpus import HashedWords
from tests.memory_corpus import article

LIVER, HEART = article("1", "The liver.", "It makes bile.", 2020), article("2", "The heart.", "It beats.", 2010)


class Another(HashedWords):
    fingerprint = "another"


@pytest.fixture
def model():
    return HashedWords()


@pytest.fixture
def passages(tmp_path):
    with closing(Database(tmp_path)) as database:
        yield SqlitePassages(database, k1=1.2, b=0.75)


@pytest.fixture
def index(passages, model):
    made = MultilingualIndex(passages, model)
    made.put([Document(LIVER, "a"), Document(HEART, "b")])
    return made


def pmids(found):
    return [each.pmid for each in found]


def test_papers_are_found_by_their_whole_text_best_first(index):
    found = index.search("the heart. it beats.", Filters(), 10)
    assert pmids(found) == ["2", "1"]
    assert found[0].sim == pytest.approx(1.0)
    assert found[0].bm25 is None
    assert pmids(index.search("bile", Filters(year_from=2015), 10)) == ["1"]


def test_only_text_that_changed_is_embedded_again(index, model):
    before = model.embedded
    index.put([Document(LIVER, "a", version=2), Document(article("2", "The heart.", "It stops."), "c", version=2)])
    assert model.embedded - before == 1
    assert pmids(index.search("stops.", Filters(), 1)) == ["2"]


def test_a_paper_that_was_deleted_is_not_found(index):
    index.delete(["2", "7"])
    assert index.count() == 1
    assert pmids(index.search("heart", Filters(), 10)) == ["1"]


def test_vectors_of_another_model_are_refused_until_the_index_is_renewed(index, passages):
    other = MultilingualIndex(passages, Another())
    with pytest.raises(ModelMismatch):
        other.search("heart", Filters(), 10)
    with pytest.raises(ModelMismatch):
        other.put([Document(LIVER, "a")])
    other.renew()
    other.put([Document(LIVER, "a")])
    assert other.count() == 1


def test_renewing_an_index_of_the_same_model_changes_nothing(index):
    index.renew()
    assert index.count() == 2
