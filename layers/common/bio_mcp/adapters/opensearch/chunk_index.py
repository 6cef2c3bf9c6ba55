"""One index of chunks, by its own name: reading it page by page, and writing to it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from bio_mcp.adapters.opensearch import queries
from bio_mcp.adapters.opensearch.bulk import Bulk
from bio_mcp.adapters.opensearch.chunk_documents import vector_of
from bio_mcp.adapters.opensearch.chunk_queries import LISTED_AT_ONCE, lexical_body, listing_body, matches, semantic_body
from bio_mcp.adapters.opensearch.index import Index
from bio_mcp.adapters.opensearch.schema import Layout
from bio_mcp.adapters.opensearch.transport import OpenSearchTransport, lines
from bio_mcp.retrieval.project_chunks import ChunkMatch, ChunkQuery

T = TypeVar("T")
Hit = Mapping[str, Any]

READ_AT_ONCE = 200  # chunks with their texts


class ChunkIndex:
    """Chunks by `_id`. Raises `IndexRefused` of the kind `GONE` when the index is gone."""

    def __init__(self, transport: OpenSearchTransport, bulk: Bulk, layout: Layout, index: Index) -> None:
        self.index = index
        self._transport = transport
        self._bulk = bulk
        self._layout = layout

    def count(self) -> int:
        """Count the chunks."""
        answer = self._ask("_search", {"size": 0, "track_total_hits": True}, queries.checked)
        total: int = answer["hits"]["total"]["value"]
        return total

    def search(self, query: ChunkQuery) -> list[ChunkMatch]:
        """Ask both legs at once."""
        lexical = lexical_body(query)
        exact = self._layout.flavour.scripts
        semantic = None if query.vector is None else semantic_body(query, query.vector, scripts=exact)
        bodies = [body for body in (lexical, semantic) if body is not None]
        sent = [line for body in bodies for line in (queries.WHOLE, body)]
        hits = iter(self._ask("_msearch", sent, partial(queries.whole, count=len(bodies))) if bodies else [])
        words = next(hits) if lexical else []
        return matches(words, next(hits) if semantic else [], self._layout.k1 + 1)

    def listed(
        self, doc_id: str | None = None, source: Sequence[str] = (), at_once: int = LISTED_AT_ONCE
    ) -> Iterator[Hit]:
        """Yield the chunks of one document or of all, by id, with these fields of their source.

        `fields` of each has `embedded` and `content`.
        """
        after: str | None = None
        while True:
            body = listing_body(doc_id, after, at_once, source)
            hits = self._ask("_search", body, queries.checked)["hits"]["hits"]
            yield from hits
            if len(hits) < at_once:
                return
            after = hits[-1]["sort"][0]

    def sources(self, keys: Sequence[str], fields: Sequence[str]) -> dict[str, Hit]:
        """Return the sources of the chunks that exist, with these fields."""
        found: dict[str, Hit] = {}
        for start in range(0, len(keys), READ_AT_ONCE):
            asked = [{"_id": each, "_source": list(fields)} for each in keys[start : start + READ_AT_ONCE]]
            hits = self._ask("_mget", {"docs": asked}, partial(queries.complete, count=len(asked)))
            found |= {hit["_id"]: hit["_source"] for hit in hits}
        return found

    def vectors(self, doc_id: str) -> dict[str, Any]:
        """Return the vectors of a document by the hash of what was embedded."""
        found = self.listed(doc_id, ["unindexed.vector"])
        return {hit["fields"]["embedded"][0]: vector_of(hit["_source"]) for hit in found}

    def put(self, documents: Mapping[str, Mapping[str, Any]]) -> None:
        """Write those of these documents that differ from what is stored; no search sees them before `refresh`.

        What is written again counts twice in BM25's statistics until its segment is merged.
        """
        stored = self.sources(list(documents), ["unindexed"])
        new = {key: each for key, each in documents.items() if stored.get(key) != {"unindexed": each["unindexed"]}}
        self._write({key: lines([{"index": {"_id": key}}, each]) for key, each in new.items()})

    def delete(self, keys: Sequence[str]) -> None:
        """Delete these documents; a search sees them until `refresh`."""
        self._write({key: lines([{"delete": {"_id": key}}]) for key in keys})

    def refresh(self) -> None:
        """Let searches see what was written. Serverless does it by itself, within seconds."""
        if self._layout.flavour.refreshes:
            self._transport.refresh(self._target())

    def _write(self, actions: Mapping[str, bytes]) -> None:
        option = "?require_alias=true" if self._layout.flavour.conditional else ""
        if actions:
            again = partial(_those, actions)
            self._bulk.write(f"/{self._target()}/_bulk{option}", actions.keys(), again)

    def _target(self) -> str:
        """The name to write by: a write by the index's own alias makes no index when there is none."""
        name = self.index.name
        return self._layout.own_alias(name) if self._layout.flavour.conditional else name

    def _ask(self, what: str, body: Any, read: Callable[[Any], T]) -> T:
        return self._transport.ask("GET", f"/{self.index.name}/{what}", body, read)


def _those(actions: Mapping[str, bytes], keys: Any) -> dict[str, bytes]:
    return {key: actions[key] for key in keys}
