"""The indexes of projects in OpenSearch: one small index for each, named after its collection, behind an alias.

A write is refreshed as a whole, at its end, and OpenSearch itself refreshes nothing before: a search sees a document's
old chunks or its new ones. Not so on Serverless, whose searches lag by seconds.

The alias of a collection is `CORPUS.COLLECTION`, and the indices behind it add `~`. No name of a collection has that,
so none can be read as a part of another's, and no name with an alias, a pattern, a list or a date in it is ever sent.
A policy may allow names that begin with `CORPUS.` and nothing else.

An index is rebuilt for another model beside the one that is searched (blue/green). The new one stands behind an alias
of its own until the last step gives it the collection's and removes the old one. The content of every chunk is
compared, so a rebuild that was stopped is continued, and each pass finds what was written during the one before it.
Once that is little, the old index is blocked for a last pass, for the seconds of two listings: a write then is a
conflict until the switch, after which its vectors, of the old model, would be refused anyhow. A rebuild that is killed
in that moment leaves the block, and the next one ends it. Serverless knows no block: nobody may write to a collection
while it is rebuilt there.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bio_mcp.adapters.indexes import (
    check_same_model,
    check_vectors,
    other_collection_model,
    rebuild_overtaken,
    unknown_collection,
    vectors_of,
)
from bio_mcp.adapters.opensearch.chunks import (
    CHUNK,
    LISTED_AT_ONCE,
    VECTOR,
    chunk_from,
    document_of,
    key_of,
    lexical_body,
    listed,
    matches,
    semantic_body,
)
from bio_mcp.adapters.opensearch.client import IndexGone, IndexRefused, OpenSearchTransport, lines
from bio_mcp.adapters.opensearch.index import Alias, Hit, Index, StoredIndex, T, fits
from bio_mcp.adapters.opensearch.schema import Layout
from bio_mcp.errors import Conflict, IndexUnavailable, InvalidInput, ModelMismatch, NotFound
from bio_mcp.health import OK, WARN, Finding
from bio_mcp.retrieval.project_chunks import ChunkMatch, ChunkQuery, ChunkVectors, ProjectChunk

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

Embed = Callable[[Sequence[str]], "Vectors"]

FULL = "validation_exception"  # of making an index: the nodes hold as many shards as they may
EMBEDDED_AT_ONCE = 128  # chunks
CONTENTS_AT_ONCE = 5_000  # hashes of chunks, of one listing
PASSES = 5  # before the last one, at most
SHARD_MB = 0.3  # of heap: an empty index of a project takes 0.2 MB, one of 1,000 chunks 0.3 (docs/runbook.md)
HEAP_SHARE = 0.2  # of all heap that shards may take
NEARLY = 0.8  # of the room
REMEDY = "Delete projects that nobody needs, or give the domain more or larger nodes, before it refuses new ones."
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,150}")


class OpenSearchCollections:
    """The port `Collections` over an index for each. Threads may share it."""

    def __init__(self, transport: OpenSearchTransport, corpus: str, layout: Layout) -> None:
        self.transport, self.corpus, self._layout = transport, corpus, layout
        self._aliases: dict[str, Alias] = {}

    def alias(self, collection: str) -> Alias | None:
        """The alias of a collection; None for what can be the name of none."""
        if not _NAME.fullmatch(collection):
            return None
        if collection not in self._aliases:
            name = f"{self.corpus}.{collection}"
            self._aliases[collection] = Alias(self.transport, name, name, self._layout)
        return self._aliases[collection]

    def create(self, collection: str, fingerprint: str, dim: int) -> None:
        alias = self.alias(collection)
        if alias is None:
            raise InvalidInput(f"{collection[:150]!r} cannot be the name of a collection")
        index = alias.refresh()
        if index is not None and index.model == (fingerprint, dim):
            return
        if index is not None and StoredIndex(alias, index).count():
            raise other_collection_model(collection, index.fingerprint, fingerprint)
        for each in (_following(alias), alias):
            _remove(each)
        _make(collection, alias, fingerprint, dim)

    def drop(self, collection: str) -> bool:
        alias = self.alias(collection)
        if alias is None:
            return False
        _remove(_following(alias))
        return _remove(alias)

    def model(self, collection: str) -> tuple[str, int] | None:
        with suppress(NotFound):
            return self._existing(collection)[1].model
        return None

    def rebuild(self, collection: str, fingerprint: str, dim: int, embed: Embed) -> None:
        alias, old = self._existing(collection)
        following = _following(alias, 2 if old.model == (fingerprint, dim) else 1)
        begun = following.refresh()
        if begun is not None and begun.name != following.layout.index_name(following.corpus, fingerprint, dim):
            _remove(following)
        new = _make(collection, following, fingerprint, dim)
        try:
            _fill_and_switch(alias, old, following, new, embed)
        except IndexUnavailable:
            if alias.refresh() != old:
                raise rebuild_overtaken(collection) from None
            raise

    def replace(
        self, collection: str, doc_id: str, chunks: Sequence[ProjectChunk], vectors: ChunkVectors, model: str = ""
    ) -> None:
        def write(index: StoredIndex) -> None:
            index.refresh()  # what a killed call wrote is listed too
            stored = [hit["_id"] for hit in listed(index, doc_id)]
            known: dict[str, Vectors] = {}
            if any(each.chunk_id not in vectors for each in chunks):
                for hit in listed(index, doc_id, VECTOR):
                    vector = np.frombuffer(b64decode(hit["_source"]["unindexed"]["vector"]), "<f4")
                    known[hit["fields"]["embedded"][0]] = vector
            new = _documents(chunks, vectors, known)
            put(index, new)
            index.delete([key for key in stored if key not in new])

        self._write(collection, vectors, model, write)

    def upsert(self, collection: str, chunks: Sequence[ProjectChunk], vectors: ChunkVectors, model: str = "") -> None:
        self._write(collection, vectors, model, lambda index: put(index, _documents(chunks, vectors, {})))

    def hashes(self, collection: str, doc_id: str) -> dict[str, str]:
        return {hit["sort"][0]: hit["fields"]["embedded"][0] for hit in self._listed(collection, doc_id)}

    def document(self, collection: str, doc_id: str) -> list[ProjectChunk]:
        chunks = [chunk_from(hit["_source"]) for hit in self._listed(collection, doc_id, CHUNK)]
        return sorted(chunks, key=lambda chunk: (chunk.position, chunk.chunk_id))

    def search(self, collection: str, query: ChunkQuery) -> list[ChunkMatch]:
        def read(stored: StoredIndex) -> list[ChunkMatch]:
            index, semantic = stored.index, None
            if query.vector is not None:
                check_same_model(collection, index.fingerprint, query.model, IndexUnavailable)
                if not fits(stored, query.vector):
                    return []
                semantic = semantic_body(query, query.vector, scripts=stored.layout.flavour.managed)
            return matches(*stored.search(lexical_body(query), semantic))

        return self._read(collection, read, [])

    def sample(self, collection: str, count: int) -> list[ProjectChunk]:
        return [chunk_from(hit["_source"]) for hit in self._listed(collection, None, CHUNK, max(0, count))]

    def count(self, collection: str) -> int:
        return self._read(collection, StoredIndex.count, 0)

    def inspect(self) -> Finding:
        """Count the projects, and say how many more the domain has room for."""
        answer: dict[str, Any] = self.transport.ask("GET", f"/_alias/{self.corpus}.*")
        projects = len({alias for each in answer.values() for alias in each["aliases"] if "~" not in alias})
        if self._layout.flavour.managed:
            return room_for(self.transport, projects)
        return Finding(OK, f"{projects:,} projects; a Serverless collection has no shards to count")

    def _read(self, collection: str, read: Callable[[StoredIndex], T], empty: T) -> T:
        alias = self.alias(collection)
        return alias.read(read, empty) if alias else empty

    def _listed(
        self, collection: str, doc_id: str | None, source: Sequence[str] = (), most: int | None = None
    ) -> list[Hit]:
        """The first chunks of a document, or of all, as `listed` gives them."""
        at_once = LISTED_AT_ONCE if most is None else max(1, min(most, LISTED_AT_ONCE))
        none: list[Hit] = []
        return self._read(collection, lambda index: list(islice(listed(index, doc_id, source, at_once), most)), none)

    def _existing(self, collection: str) -> tuple[Alias, Index]:
        alias = self.alias(collection)
        index = alias.refresh() if alias else None
        if alias is None or index is None:
            raise unknown_collection(collection)
        return alias, index

    def _write(self, collection: str, vectors: ChunkVectors, model: str, write: Callable[[StoredIndex], None]) -> None:
        """Write to the index, then let searches see it. Raises `Conflict` if another index is searched by then."""
        alias, index = self._existing(collection)
        if vectors:
            check_same_model(collection, index.fingerprint, model, Conflict)
        check_vectors(vectors, index.dim)
        stored = StoredIndex(alias, index)
        try:
            write(stored)
            stored.refresh()
        finally:
            now = alias.refresh()
            if now is None:
                raise unknown_collection(collection)
            if now != index or now.blocked:
                raise Conflict(
                    f"The collection {collection} is just being switched to another model; write again in a minute. If "
                    "nobody rebuilds it, rebuild it again: that was stopped half-way."
                )


def put(index: StoredIndex, documents: Mapping[str, Mapping[str, Any]]) -> None:
    """Write those of these documents that differ from what is stored; no search sees them before `refresh`.

    What is written again counts twice in BM25's statistics until its segment is merged.
    """
    stored = {key: hit["_source"] for key, hit in index.read([(key, ["unindexed"]) for key in documents]).items()}
    new = {key: each for key, each in documents.items() if stored.get(key) != {"unindexed": each["unindexed"]}}
    actions = {key: lines([{"index": {"_id": key}}, each]) for key, each in new.items()}
    index.write(actions, lambda left: {key: actions[key] for key in left})


def _documents(
    chunks: Sequence[ProjectChunk], vectors: ChunkVectors, stored: "Mapping[str, Vectors]"
) -> dict[str, dict[str, Any]]:
    """The documents of the chunks by `_id`, with given or stored vectors. Raises `Conflict` for a lack of both."""
    chosen = zip(chunks, vectors_of(chunks, vectors, stored), strict=True)
    return {key_of(chunk.chunk_id): document_of(chunk, vector) for chunk, vector in chosen}


def _following(alias: Alias, generation: int = 1) -> Alias:
    """The alias of the index that a rebuild fills."""
    layout = replace(alias.layout, generation=generation)
    name = f"{alias.name}{layout.contents.separator}next"
    return Alias(alias.transport, name, alias.corpus, layout)


def _make(collection: str, alias: Alias, fingerprint: str, dim: int) -> Index:
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


def _remove(alias: Alias) -> bool:
    """Remove what is behind the alias; returns whether there was something."""
    found = False
    while (index := alias.refresh()) is not None:
        found = True
        with suppress(IndexGone):
            alias.transport.ask("DELETE", f"/{index.name}")
    return found


def _fill_and_switch(alias: Alias, old: Index, following: Alias, new: Index, embed: Embed) -> None:
    for _ in range(PASSES):
        if bring_up(StoredIndex(alias, old), StoredIndex(following, new), embed) <= EMBEDDED_AT_ONCE:
            break
    with ExitStack() as undo:
        if alias.layout.flavour.managed:
            undo.callback(alias.block, old, blocked=False)
            alias.block(old)
        bring_up(StoredIndex(alias, old), StoredIndex(following, new), embed)
        alias.hand_over(new, also_from=following)
        undo.pop_all()


def bring_up(live: StoredIndex, following: StoredIndex, embed: Embed) -> int:
    """Write to `following` every chunk of `live` that differs there, embedded anew, and delete all others.

    Returns how many were embedded.
    """
    live.refresh()
    following.refresh()
    there, here = (
        {hit["_id"]: hit["fields"]["content"][0] for hit in listed(each, at_once=CONTENTS_AT_ONCE)}
        for each in (following, live)
    )
    changed = [key for key, content in here.items() if there.get(key) != content]
    for start in range(0, len(changed), EMBEDDED_AT_ONCE):
        found = live.read([(key, CHUNK) for key in changed[start : start + EMBEDDED_AT_ONCE]])
        chunks = {key: chunk_from(hit["_source"]) for key, hit in found.items()}
        vectors = embed([each.embedded_text for each in chunks.values()]) if chunks else ()
        by_key = dict(zip(chunks, vectors, strict=True))
        check_vectors(by_key, following.index.dim)
        put(following, {key: document_of(chunk, by_key[key]) for key, chunk in chunks.items()})
    following.delete([key for key in there if key not in here])
    following.refresh()
    return len(changed)


def room_for(transport: OpenSearchTransport, projects: int) -> Finding:
    """Compare the shards of the domain with what its nodes hold: by their limit and by their heap."""
    health: dict[str, Any] = transport.ask("GET", "/_cluster/health")
    settings: dict[str, Any] = transport.ask("GET", "/_cluster/settings?include_defaults=true")
    stats: dict[str, Any] = transport.ask("GET", "/_nodes/stats/jvm")
    per_node = [  # the most transient of what is set counts
        settings[kind]["cluster"]["max_shards_per_node"]
        for kind in ("transient", "persistent", "defaults")
        if "max_shards_per_node" in settings.get(kind, {}).get("cluster", {})
    ]
    data = [each for each in stats["nodes"].values() if "data" in each["roles"]]
    heap_mb = sum(each["jvm"]["mem"]["heap_max_in_bytes"] for each in data) / (1 << 20)
    nodes, shards = health["number_of_data_nodes"], health["active_shards"] + health["unassigned_shards"]
    limit, heap = nodes * int(per_node[0]), int(heap_mb * HEAP_SHARE / SHARD_MB)
    more = max(0, min(limit, heap) - shards) // min(2, max(1, nodes))
    found = (
        f"{projects:,} projects; {shards:,} shards in use of {limit:,} that {nodes} data nodes may hold "
        f"and {heap:,} that their heap is good for: room for {more:,} more projects"
    )
    return Finding(WARN, found, REMEDY) if shards >= NEARLY * min(limit, heap) else Finding(OK, found)
