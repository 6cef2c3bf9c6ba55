"""The indexes of the papers on one machine, beyond what `tests/syncing/test_reembedding.py` asks of every engine."""

from itertools import islice

import pytest

from bio_mcp.answering.search import Question, search_papers
from bio_mcp.errors import Conflict
from bio_mcp.ports.models import Role
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.reindexing import begin, switch
from tests.doors.command_line import sample
from tests.support.corpus import Corpus, HashedWords
from tests.support.reembedding import nearness, ready


@pytest.fixture
def papers():
    return list(islice(sample(), 12))


@pytest.fixture
def corpus(tmp_path, papers):
    with Corpus(tmp_path) as made:
        made.other_models = [HashedWords("-2")]
        apply_records(papers, made)
        yield made


def test_another_process_follows_the_switch_at_its_next_call(corpus, papers, tmp_path):
    with Corpus(tmp_path) as other:
        other.other_models = corpus.other_models
        found = {each.candidate.pmid for each in search_papers(Question(papers[0].title), other).ranked}
        ready(corpus)
        switch(Role.NEXT, corpus)
        assert other.embeddings.fingerprint == "hashed-words-2"
        assert {each.candidate.pmid for each in search_papers(Question(papers[0].title), other).ranked} == found
        assert nearness(other, papers[0].pmid) == pytest.approx(1, abs=1e-3)


def test_the_files_of_removed_indexes_are_deleted(corpus):
    for _ in range(2):
        ready(corpus)
        switch(Role.NEXT, corpus)
        switch(Role.PREVIOUS, corpus)
        corpus.indexes.remove()
    assert list((corpus.settings.home / "indexes").iterdir()) == []


def test_an_index_of_the_same_model_is_begun_only_where_that_is_asked_for(corpus):
    with pytest.raises(Conflict, match=r"of the model hashed-words already.*--force"):
        begin(corpus.model, corpus)
    assert begin(corpus.model, corpus, force=True).role is Role.NEXT
