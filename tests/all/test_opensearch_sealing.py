"""The attempts to read across projects, on a real OpenSearch node."""

import pytest

from tests.adapters.ports.test_sealing import *  # noqa: F403  the very same tests
from tests.support.opensearch_node.collections import collections_at


@pytest.fixture
def collections(opensearch):
    return collections_at(opensearch.url)
