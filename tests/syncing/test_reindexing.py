"""The index again, of what is stored."""

from itertools import islice

import pytest

from bio_mcp.errors import ModelMismatch
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.importing import corpus_size
from bio_mcp.syncing.reindexing import reindex
from tests.doors.command_line import sample
from tests.support.corpus import Corpus

PAPERS = 40


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path) as made:
        apply_records(islice(sample(), PAPERS), made)
        yield made


def ranking(corpus, text="cancer risk treatment"):
    query = PassageQuery(tuple((word, 1.0) for word in text.split()), corpus.embeddings.embed([text])[0])
    return sorted((each.pmid, each.bm25, each.sim) for each in corpus.passages.hybrid_search(query))


def lose_the_index(corpus, pmids=None):
    corpus.passages.delete(pmids or list(corpus.documents.pmids()))


def test_a_lost_index_is_made_again_and_ranks_as_before(corpus):
    before, size = ranking(corpus), corpus_size(corpus)
    lose_the_index(corpus)
    assert ranking(corpus) == []
    reported = []
    assert reindex(corpus, lambda *report: reported.append(report)) is False
    assert (ranking(corpus), corpus_size(corpus)) == (before, size)
    assert reported[-1] == (PAPERS, PAPERS, f"{PAPERS} papers")


def test_texts_whose_vectors_are_there_are_not_embedded_again(corpus):
    lose_the_index(corpus, list(islice(corpus.documents.pmids(), 3)))
    embedded = corpus.model.embedded
    reindex(corpus)
    some = corpus.model.embedded - embedded
    reindex(corpus)
    assert 0 < some < embedded
    assert corpus.model.embedded == embedded + some


def test_another_model_takes_the_place_of_the_first(corpus):
    before = ranking(corpus)
    corpus.model.fingerprint = "other-words"
    with pytest.raises(ModelMismatch):
        corpus.passages.ensure_schema("other-words", corpus.model.dim)
    assert reindex(corpus) is True
    assert ranking(corpus) == before
    assert corpus_size(corpus).indexed == PAPERS


def test_stopped_half_way_through_another_model_it_is_repeated(corpus):
    before = ranking(corpus)
    corpus.model.fingerprint = "other-words"

    def stop(done, _total, _note):
        if done > PAPERS // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reindex(corpus, stop)
    assert ranking(corpus) == before  # the old one is searched meanwhile
    embedded = corpus.model.embedded
    assert reindex(corpus) is True
    assert corpus.model.embedded - embedded < PAPERS
    assert ranking(corpus) == before


def test_what_a_stopped_sync_has_not_announced_stays_for_the_next(corpus):
    pmid = next(corpus.documents.pmids())
    stored = corpus.documents.get(pmid)
    corpus.documents.put([type(stored)(stored.article, "changed", stored.version + 1)])
    reindex(corpus)
    head = corpus.documents.heads([pmid])[pmid]
    assert (head.version, head.indexed_version) == (stored.version + 1, stored.version)
