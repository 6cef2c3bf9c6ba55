"""The contract suite of the collections port, on a real OpenSearch node."""

from types import SimpleNamespace

import pytest

from bio_mcp.adapters.opensearch.collections import OpenSearchCollections
from tests.adapters.ports.test_collections import *  # noqa: F403  the very same tests
from tests.opensearch_node.collections import FreshCollections, collections_at

EXACT_STATISTICS = (  # they compare scores after chunks were replaced
    "test_scores_are_those_of_the_plain_reading_of_the_contract",
    "test_what_is_deleted_or_replaced_does_not_count_in_a_score",
)


@pytest.fixture
def ports(request, opensearch):
    kind = FreshCollections if request.node.originalname in EXACT_STATISTICS else OpenSearchCollections
    return SimpleNamespace(collections=collections_at(opensearch.url, kind=kind))
