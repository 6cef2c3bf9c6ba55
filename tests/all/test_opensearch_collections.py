"""The contract suite of the collections port, on a real OpenSearch node."""

from types import SimpleNamespace

import pytest

from bio_mcp.adapters.opensearch.collections import OpenSearchCollections
from tests.adapters.chunks import document, store
from tests.adapters.entries import DIM
from tests.adapters.ports.test_collections import *  # noqa: F403  the very same tests
from tests.adapters.ports.test_collections import ONE, by_seed
from tests.support.opensearch_node.collections import FreshCollections, collections_at

EXACT = "test_scores_are_those_of_the_plain_reading_of_the_contract"  # compares them after chunks were replaced


@pytest.fixture
def ports(request, opensearch):
    kind = FreshCollections if request.node.originalname == EXACT else OpenSearchCollections
    return SimpleNamespace(collections=collections_at(opensearch.url, kind=kind))


def test_what_is_written_during_a_long_rebuild_is_embedded_before_writers_are_refused(collections):
    store(collections, ONE, document("d1", *(f"old {n}" for n in range(200))))
    seen = []

    def embed(texts):
        seen.append((len(texts), collections.alias(ONE).refresh().blocked))
        if len(seen) == 1:
            store(collections, ONE, document("d2", *(f"new {n}" for n in range(300))))
        return by_seed(texts)

    collections.rebuild(ONE, "model-b", DIM, embed)
    assert sum(count for count, _ in seen) == 500
    assert not any(blocked for _, blocked in seen)
    assert (collections.count(ONE), collections.model(ONE)) == (500, ("model-b", DIM))
