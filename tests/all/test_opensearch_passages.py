"""The contract suite of the passages port, on a real OpenSearch node, however it has its vectors."""

from types import SimpleNamespace

import pytest

from bio_mcp.adapters.opensearch.schema import VECTOR_LAYOUTS
from tests.adapters.ports.test_passages import *  # noqa: F403  the very same tests
from tests.support.opensearch_node.passages import fresh_statistics_at, passages_at

EXACT = "test_scores_are_those_of_the_plain_reading_of_the_contract"  # compares them after documents were replaced


@pytest.fixture(params=VECTOR_LAYOUTS)
def ports(request, opensearch):
    made = fresh_statistics_at if request.node.originalname == EXACT else passages_at
    return SimpleNamespace(passages=made(opensearch.url, vectors=request.param))
