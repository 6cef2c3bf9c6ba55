"""OpenSearch behind the index of papers and those of projects, where the settings name an endpoint."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bio_mcp.errors import Misconfigured
from bio_mcp.health import Finding, examine
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.adapters.opensearch.collections import OpenSearchCollections
    from bio_mcp.adapters.opensearch.indexes import OpenSearchIndexes
    from bio_mcp.adapters.opensearch.passages import OpenSearchPassages


def passages(settings: Settings, index: str) -> "OpenSearchPassages":
    """The passages of papers in the index of that name. Raises `Misconfigured`."""
    url = _url(settings)
    from bio_mcp.adapters.opensearch.passages import connected
    from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

    vectors, shards = settings.opensearch_vectors, settings.opensearch_shards
    if vectors != "float" and settings.opensearch_service == "aoss":
        raise Misconfigured("BIO_MCP_OPENSEARCH_VECTORS: an index in OpenSearch Serverless can have float alone")
    return connected(url, settings.opensearch_service, index, k1=BM25_K1, b=BM25_B, shards=shards, vectors=vectors)


def indexes(settings: Settings) -> "OpenSearchIndexes":
    """The index of papers, and the one beside it. Raises `Misconfigured`."""
    live = passages(settings, settings.index_name)
    from bio_mcp.adapters.opensearch.endpoint import transport_to
    from bio_mcp.adapters.opensearch.indexes import OpenSearchIndexes

    return OpenSearchIndexes(live, transport_to(_url(settings), settings.opensearch_service))


def collections(settings: Settings) -> "OpenSearchCollections":
    """The indices of projects. Raises `Misconfigured`."""
    url = _url(settings)
    from bio_mcp.adapters.opensearch.collections import connected
    from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

    return connected(url, settings.opensearch_service, settings.index_name, k1=BM25_K1, b=BM25_B)


def checks(indexes: Callable[[], Any], collections: Callable[[], Any]) -> list[Finding]:
    """Check how the indexes of papers were made, and the room for projects."""
    return [
        examine("index", lambda: indexes().inspect()),
        examine("projects", lambda: collections().inspect()),
    ]


def _url(settings: Settings) -> str:
    if find_spec("opensearchpy") is None:
        raise Misconfigured("searching takes opensearch-py; install the extra aws, as docs/runbook.md says")
    return settings.needed("opensearch_url")
