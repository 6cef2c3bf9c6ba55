"""Every engine is given the BM25 of `retrieval.ranking`."""

from inspect import Parameter, signature

import pytest

from bio_mcp.adapters.embedded.live_index import LiveIndex
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.opensearch.passages import connected
from bio_mcp.adapters.opensearch.schema import Layout


@pytest.mark.parametrize("engine", [SqlitePassages, LiveIndex, Layout, connected])
def test_no_engine_has_a_bm25_of_its_own(engine):
    given = signature(engine).parameters
    assert [given[name].default for name in ("k1", "b")] == [Parameter.empty] * 2
