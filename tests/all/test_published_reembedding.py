"""A change of the index in S3, while others write and search: `test_s3_indexes.py` has what only copies have."""

import pytest

from bio_mcp.ports.models import Role
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.syncing.reindexing import of_role, switch
from tests.adapters.aws.conftest import ports as ports
from tests.support.aws_ports import client
from tests.support.corpus import HashedWords
from tests.support.published import PublishedCorpus
from tests.support.reembedding import ready
from tests.syncing.test_reembedding import *  # noqa: F403  the very same tests
from tests.syncing.test_reembedding import ANOTHER


@pytest.fixture
def opened(ports, tmp_path, kind):
    """Opens the corpus, as another process does."""
    client("s3").create_bucket(Bucket="bucket")

    def another():
        made = PublishedCorpus(tmp_path, client("s3"))
        made.other_models = [HashedWords("-2")] if kind == ANOTHER else []
        return made

    return another


def test_a_reader_of_a_removed_index_hears_so_and_is_not_given_an_empty_result(corpus, papers):
    """Its copy has all of it, and is searched to the end of the call."""
    ready(corpus)
    old = of_role(Role.SEARCHED, corpus).passages
    query = PassageQuery((), corpus.model.embed([papers[0].title])[0])
    before = old.hybrid_search(query)
    switch(Role.NEXT, corpus)
    corpus.indexes.remove()
    assert len(old.hybrid_search(query)) == len(before) == len(papers)
