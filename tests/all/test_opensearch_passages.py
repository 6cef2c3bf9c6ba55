"""The contract suite of the passages port, on a real OpenSearch node, however it has its vectors."""

from types import SimpleNamespace

import pytest

from bio_mcp.adapters.opensearch.schema import VECTOR_LAYOUTS
from tests.adapters.ports.test_passages import *  # noqa: F403  the very same tests
from tests.support.opensearch_node.passages import fresh_statistics_at, passages_at

EXACT = {  # compare scores after documents were replaced
    "test_scores_are_those_of_the_plain_reading_of_the_contract",
    "test_papers_are_found_by_trees_as_the_plain_reading_of_the_contract_finds_them",
}


@pytest.fixture(params=VECTOR_LAYOUTS)
def ports(request, opensearch):
    made = fresh_statistics_at if request.node.originalname in EXACT else passages_at
    return SimpleNamespace(passages=made(opensearch.url, vectors=request.param))
