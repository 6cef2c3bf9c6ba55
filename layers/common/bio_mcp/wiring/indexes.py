"""Indexes in OpenSearch and in S3."""

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from bio_mcp.errors import Misconfigured
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.s3_index import IndexObjects, PublishedDatabase
    from bio_mcp.adapters.aws.s3_indexes import PublishedIndexes
    from bio_mcp.adapters.opensearch.collections import OpenSearchCollections
    from bio_mcp.adapters.opensearch.passages import OpenSearchIndexes


def indexes(settings: Settings) -> "OpenSearchIndexes":
    """The index of papers in OpenSearch, and the one beside it. Raises `Misconfigured`."""
    url = _url(settings)
    from bio_mcp.adapters.opensearch.client import transport_to
    from bio_mcp.adapters.opensearch.passages import OpenSearchIndexes, OpenSearchPassages
    from bio_mcp.adapters.opensearch.schema import FLAVOURS, PAPERS, Layout

    service, vectors, shards = settings.opensearch_service, settings.opensearch_vectors, settings.opensearch_shards
    if vectors != "float" and service == "aoss":
        raise Misconfigured("BIO_MCP_OPENSEARCH_VECTORS: an index in OpenSearch Serverless can have float alone")
    layout = Layout(FLAVOURS[service], shards, contents=PAPERS[vectors])
    return OpenSearchIndexes(OpenSearchPassages(transport_to(url, service), settings.index_name, layout))


def collections(settings: Settings) -> "OpenSearchCollections":
    """The indices of projects in OpenSearch. Raises `Misconfigured`."""
    url = _url(settings)
    from bio_mcp.adapters.opensearch.chunks import CHUNKS
    from bio_mcp.adapters.opensearch.client import transport_to
    from bio_mcp.adapters.opensearch.collections import OpenSearchCollections
    from bio_mcp.adapters.opensearch.schema import FLAVOURS, Layout

    service = settings.opensearch_service
    layout = Layout(FLAVOURS[service], contents=CHUNKS)
    return OpenSearchCollections(transport_to(url, service), settings.index_name, layout)


def _url(settings: Settings) -> str:
    if find_spec("opensearchpy") is None:
        raise Misconfigured("searching takes opensearch-py; install the extra aws, as docs/runbook.md says")
    return settings.needed("opensearch_url")


def published_indexes(own: Any) -> "PublishedIndexes":
    """The indexes of papers in S3; each is downloaded when it is first asked."""
    from bio_mcp.adapters.aws.s3_indexes import IndexNames, PublishedIndexes

    to = own.settings
    names = IndexNames(own.s3, to.needed("bucket"), refresh_s=to.index_refresh_s)
    made: PublishedIndexes = own.closing(PublishedIndexes(names, partial(_copied, own)))
    return made


def published_projects(own: Any) -> "PublishedDatabase":
    """The file of the projects' indexes in S3."""
    from bio_mcp.adapters.aws.s3_index import IndexObjects

    made: PublishedDatabase = own.closing(_copied(own, IndexObjects(own.s3, own.settings.needed("bucket"), "projects")))
    return made


def _copied(own: Any, objects: "IndexObjects") -> "PublishedDatabase":
    """A copy of an index in a directory of its own."""
    from bio_mcp.adapters.aws.s3_index import PublishedDatabase

    to = own.settings
    directory = Path(mkdtemp(prefix=f"{objects.name}-", dir=own.copies))
    refresh_s, max_bytes = to.index_refresh_s, to.index_limit_mb << 20
    return PublishedDatabase(directory, objects, lambda: own.leases, refresh_s=refresh_s, max_bytes=max_bytes)
