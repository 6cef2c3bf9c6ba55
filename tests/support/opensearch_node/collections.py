"""Collections over a node, of a corpus of their own."""

import itertools
import os

from bio_mcp.adapters.opensearch.chunks import CHUNKS
from bio_mcp.adapters.opensearch.client import OpenSearchTransport, client
from bio_mcp.adapters.opensearch.collections import OpenSearchCollections
from bio_mcp.adapters.opensearch.schema import DOMAIN, Layout
from bio_mcp.retrieval.project_chunks import ChunkMatch, ChunkQuery
from tests.support.opensearch_node.passages import QUICK, drop_deleted

_numbers = itertools.count()


class FreshCollections(OpenSearchCollections):
    """Before each search, drops what was replaced or deleted from the index, whose words BM25 else still counts."""

    def search(self, collection: str, query: ChunkQuery) -> list[ChunkMatch]:
        alias = self.alias(collection)
        index = alias.index() if alias else None
        if index is not None:
            drop_deleted(self.transport, index.name)
        return super().search(collection, query)


def collections_at(
    url: str, corpus: str = "", kind: type[OpenSearchCollections] = OpenSearchCollections
) -> OpenSearchCollections:
    """New collections at `url`, or those of `corpus`; the adapter does not wait long before it tries again."""
    transport = OpenSearchTransport(client(url), backoff=QUICK, bulk_backoff=QUICK, read_s=30)
    layout = Layout(DOMAIN, contents=CHUNKS)
    name = corpus or f"projects-{os.getpid()}-{next(_numbers)}"
    return kind(transport, name, layout)
