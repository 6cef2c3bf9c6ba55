"""Rebuilding the index of a project for another model, beside the one that is searched (blue/green).

The new index stands behind an alias of its own until the last step gives it the collection's and removes the old one.
The content of every chunk is compared, so a rebuild that was stopped is continued, and each pass finds what was written
during the one before it. Once that is little, the old index is blocked for a last pass, for the seconds of two
listings: a write then is a conflict until the switch, after which its vectors, of the old model, would be refused
anyhow. A rebuild that is killed in that moment leaves the block, and the next one ends it. Serverless knows no block:
nobody may write to a collection while it is rebuilt there.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from bio_mcp.adapters.collections import check_chunk_vectors, rebuild_overtaken, unknown_collection
from bio_mcp.adapters.opensearch.chunk_documents import chunk_of, document_of
from bio_mcp.adapters.opensearch.chunk_index import ChunkIndex
from bio_mcp.adapters.opensearch.chunk_queries import CHUNK
from bio_mcp.adapters.opensearch.collection_indices import CollectionIndices
from bio_mcp.adapters.opensearch.index import Alias, Index
from bio_mcp.errors import IndexUnavailable

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

Embed = Callable[[Sequence[str]], "Vectors"]

EMBEDDED_AT_ONCE = 128  # chunks
LISTED_AT_ONCE = 5_000  # ids
PASSES = 5  # before the last one, at most


def rebuild(indices: CollectionIndices, collection: str, fingerprint: str, dim: int, embed: Embed) -> None:
    """Embed every chunk into another index, then search that one. Raises `NotFound`, and `Conflict` when overtaken."""
    alias = indices.alias(collection)
    old = alias.refresh() if alias else None
    if alias is None or old is None:
        raise unknown_collection(collection)
    first = alias.index_name(fingerprint, dim) != old.name
    following = indices.following(alias, generation=1 if first else 2)
    begun = following.refresh()
    if begun is not None and begun.name != following.index_name(fingerprint, dim):
        indices.remove(following)
    new = indices.make(collection, following, fingerprint, dim)
    try:
        _fill_and_switch(indices, alias, old, following, new, embed)
    except IndexUnavailable:
        if alias.refresh() != old:
            raise rebuild_overtaken(collection) from None
        raise


def _fill_and_switch(
    indices: CollectionIndices, alias: Alias, old: Index, following: Alias, new: Index, embed: Embed
) -> None:
    for _ in range(PASSES):
        if bring_up(indices.chunks(old), indices.chunks(new), embed) <= EMBEDDED_AT_ONCE:
            break
    with ExitStack() as undo:
        if indices.layout.flavour.tunable:
            undo.callback(alias.block, old, blocked=False)
            alias.block(old)
        bring_up(indices.chunks(old), indices.chunks(new), embed)
        alias.hand_over(new, also_from=following)
        undo.pop_all()


def bring_up(live: ChunkIndex, following: ChunkIndex, embed: Embed) -> int:
    """Write to `following` every chunk of `live` that differs there, embedded anew, and delete all others.

    Returns how many were embedded.
    """
    live.refresh()
    following.refresh()
    there, here = _contents(following), _contents(live)
    changed = [key for key, content in here.items() if there.get(key) != content]
    for page in _pages(changed):
        chunks = {key: chunk_of(source) for key, source in live.sources(page, CHUNK).items()}
        vectors = embed([each.embedded_text for each in chunks.values()]) if chunks else ()
        by_key = dict(zip(chunks, vectors, strict=True))
        check_chunk_vectors(by_key, following.index.dim)
        following.put({key: document_of(chunk, by_key[key]) for key, chunk in chunks.items()})
    following.delete([key for key in there if key not in here])
    following.refresh()
    return len(changed)


def _contents(index: ChunkIndex) -> dict[str, str]:
    return {hit["_id"]: hit["fields"]["content"][0] for hit in index.listed(at_once=LISTED_AT_ONCE)}


def _pages(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[start : start + EMBEDDED_AT_ONCE] for start in range(0, len(keys), EMBEDDED_AT_ONCE))
