"""The indices of projects: their names, making and removing them.

The alias of a collection is `CORPUS.COLLECTION`, and the indices behind it add `~`. No name of a collection has that,
so none can be read as a part of another's, and no name with an alias, a pattern, a list or a date in it is ever sent.
A policy may allow names that begin with `CORPUS.` and nothing else.
"""

import re
from dataclasses import replace

from bio_mcp.adapters.collections import other_collection_model
from bio_mcp.adapters.opensearch.bulk import Bulk
from bio_mcp.adapters.opensearch.chunk_index import ChunkIndex
from bio_mcp.adapters.opensearch.errors import IndexRefused
from bio_mcp.adapters.opensearch.index import GONE, Alias, Index
from bio_mcp.adapters.opensearch.schema import Layout
from bio_mcp.adapters.opensearch.transport import OpenSearchTransport
from bio_mcp.errors import IndexUnavailable, ModelMismatch

FULL = "validation_exception"  # of making an index: the nodes hold as many shards as they may
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,150}")


class CollectionIndices:
    """The indices of the collections of a corpus; threads may share it."""

    def __init__(self, transport: OpenSearchTransport, corpus: str, layout: Layout, bulk: Bulk) -> None:
        self.corpus = corpus
        self.layout = layout
        self.transport = transport
        self._bulk = bulk
        self._aliases: dict[str, Alias] = {}

    def alias(self, collection: str) -> Alias | None:
        """The alias of a collection; None for what can be the name of none."""
        if not _NAME.fullmatch(collection):
            return None
        if collection not in self._aliases:
            name = f"{self.corpus}.{collection}"
            self._aliases[collection] = Alias(self.transport, name, name, self.layout)
        return self._aliases[collection]

    def following(self, alias: Alias, generation: int = 1) -> Alias:
        """The alias of the index that a rebuild fills."""
        layout = replace(self.layout, generation=generation)
        return Alias(self.transport, f"{alias.name}{layout.contents.separator}next", alias.corpus, layout)

    def chunks(self, index: Index) -> ChunkIndex:
        """The chunks of an index."""
        return ChunkIndex(self.transport, self._bulk, self.layout, index)

    def make(self, collection: str, alias: Alias, fingerprint: str, dim: int) -> Index:
        """Make an index behind the alias unless there is one. Raises `ModelMismatch` for one of another model."""
        try:
            return alias.make(fingerprint, dim)
        except ModelMismatch as error:
            raise other_collection_model(collection, error.details["indexed"], fingerprint) from None
        except IndexRefused as error:
            if error.kind != FULL:
                raise
            raise IndexUnavailable(
                "The search domain has no room for another project's index: delete projects, or give the domain more "
                "nodes; bio-mcp doctor counts.",
                retryable=False,
            ) from error

    def remove(self, alias: Alias) -> bool:
        """Remove what is behind the alias; returns whether there was something."""
        found = False
        while (index := alias.refresh()) is not None:
            found = True
            try:
                self.transport.ask("DELETE", f"/{index.name}")
            except IndexRefused as error:
                if error.kind != GONE:
                    raise
        return found
