"""Passages over a node, each in an index of its own."""

import itertools
import os

from bio_mcp.adapters.opensearch.client import OpenSearchTransport, client
from bio_mcp.adapters.opensearch.passages import OpenSearchPassages
from bio_mcp.adapters.opensearch.schema import DOMAIN, PAPERS, Layout
from bio_mcp.adapters.retry import Backoff
from bio_mcp.retrieval.passages import Candidate, PassageQuery

QUICK = Backoff(tries=6, first_s=0.01, cap_s=0.05)
_numbers = itertools.count()


def passages_at(url: str, *, shards: int = 1, alias: str = "", vectors: str = "float") -> OpenSearchPassages:
    """A new corpus at `url`, or that of `alias`; the adapter does not wait long before it tries again."""
    return _made(OpenSearchPassages, url, shards, alias, vectors)


def _made(
    kind: type[OpenSearchPassages], url: str, shards: int = 1, alias: str = "", vectors: str = "float"
) -> OpenSearchPassages:
    layout = Layout(DOMAIN, shards, replicas=0, contents=PAPERS[vectors])
    transport = OpenSearchTransport(client(url), backoff=QUICK, bulk_backoff=QUICK, read_s=30)
    return kind(transport, alias or f"test-{os.getpid()}-{next(_numbers)}", layout)


class FreshStatistics(OpenSearchPassages):
    """Before each search, drops what was replaced or deleted from the index, whose words BM25 else still counts."""

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        index = self.alias.index()
        if index is not None:
            drop_deleted(self.alias.transport, index.name)
        return super().hybrid_search(query)


def drop_deleted(transport: OpenSearchTransport, index: str) -> None:
    """Merge the index, without what was replaced or deleted.

    Merging alone drops nothing that a copy of the shard may still ask for; closing the index ends that claim.
    """
    if not _deleted(transport, index):
        return
    for step in ("_flush?force=true", "_close", "_open"):
        transport.ask("POST", f"/{index}/{step}")
    transport.ask("GET", f"/_cluster/health/{index}?wait_for_status=green")
    for step in ("_forcemerge?max_num_segments=1", "_refresh"):
        transport.ask("POST", f"/{index}/{step}")
    assert not _deleted(transport, index)


def _deleted(transport: OpenSearchTransport, index: str) -> int:
    counted: int = transport.ask("GET", f"/{index}/_stats/docs")["_all"]["primaries"]["docs"]["deleted"]
    return counted


def fresh_statistics_at(url: str, vectors: str = "float") -> OpenSearchPassages:
    return _made(FreshStatistics, url, vectors=vectors)
