"""An index beside which there is never another: its model is changed in place."""

from itertools import islice

import pytest

from bio_mcp.adapters.embedded.only_index import OnlyIndex
from bio_mcp.errors import Conflict, NotFound
from bio_mcp.ports.indexes import Role
from bio_mcp.syncing.importing import import_records
from bio_mcp.syncing.reindexing import begin, reindex
from tests.corpus import Corpus, HashedWords
from tests.doors.command_line import sample
from tests.reembedding import nearness


class WithOne(Corpus):
    """A corpus whose index has no other beside it, as one in S3."""

    @property
    def indexes(self):
        return OnlyIndex(super().indexes.searched()[0])


@pytest.fixture
def papers():
    return list(islice(sample(), 4))


@pytest.fixture
def corpus(tmp_path, papers):
    with WithOne(tmp_path) as made:
        assert made.indexes.all() == []
        import_records(papers, made)
        yield made


def test_no_other_can_be_begun_switched_to_or_removed(corpus):
    with pytest.raises(Conflict, match=r"no room for another beside it.*bio-mcp reindex"):
        begin(HashedWords("-2"), corpus)
    with pytest.raises(NotFound, match="no next index"):
        corpus.indexes.switch(Role.NEXT)
    assert corpus.indexes.remove() is False
    assert [each.role for each in corpus.indexes.all()] == [Role.SEARCHED]


def test_the_configured_model_takes_the_place_of_the_other(corpus, papers):
    corpus.model, corpus.other_models = HashedWords("-2"), [corpus.model]
    assert reindex(corpus)
    assert corpus.embeddings.fingerprint == corpus.indexes.all()[0].fingerprint == "hashed-words-2"
    assert dict(corpus.indexes.all()[0].versions()).keys() == {each.pmid for each in papers}
    assert nearness(corpus, papers[0].pmid) == pytest.approx(1, abs=1e-3)
    assert reindex(corpus) is False
