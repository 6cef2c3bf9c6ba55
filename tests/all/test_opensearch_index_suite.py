"""The suite of what papers and projects' chunks have in common, on a real OpenSearch node."""

from types import SimpleNamespace

import pytest

from tests.adapters.ports.test_index import *  # noqa: F403  the very same tests
from tests.adapters.ports.test_index import KINDS
from tests.support.opensearch_node.collections import FreshCollections, collections_at
from tests.support.opensearch_node.passages import fresh_statistics_at


@pytest.fixture(params=KINDS)
def contents(request):
    return request.param


@pytest.fixture
def ports(opensearch):
    """Engines whose statistics are those of what is stored, as some tests compare scores after a replacement."""
    return SimpleNamespace(
        passages=fresh_statistics_at(opensearch.url), collections=collections_at(opensearch.url, kind=FreshCollections)
    )
