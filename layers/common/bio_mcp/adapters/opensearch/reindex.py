"""A new index beside the one that is searched, and the switch between them in one step (blue/green)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

from bio_mcp.adapters.opensearch import queries as searching
from bio_mcp.adapters.opensearch.index import Index
from bio_mcp.adapters.opensearch.passages import OpenSearchPassages
from bio_mcp.adapters.opensearch.schema import Layout, index_name
from bio_mcp.errors import Conflict, IndexUnavailable

PAGE = 500  # documents listed at once

Reindex = Callable[[Sequence[str], OpenSearchPassages], None]
"""Write these PMIDs, at their present versions, into that index; those that no longer exist are left out."""


def rebuild(
    live: OpenSearchPassages,
    fingerprint: str,
    dim: int,
    reindex: Reindex,
    *,
    layout: Layout,
    pause: Callable[[bool], None] | None = None,
) -> Index:
    """Fill an index for another model from what `live` holds, then let the alias of `live` mean it; returns it.

    May be stopped and started again: only what is missing or older there is written. Searches go on in the old index
    all the while; so do writes, until a last pass, for which it is blocked (on Serverless `pause` must see to that:
    it is called with True before the last pass, and with False should it fail). The old index stays, blocked, for a
    way back: `switch`; remove it when nobody wants that. `layout` needs another `generation` for the same model.
    """
    old = live.alias.now()
    if old is None:
        raise IndexUnavailable("There is no index to rebuild; make its schema and sync.", retryable=False)
    if old.name == index_name(live.alias.corpus, fingerprint, dim, layout.generation):
        raise Conflict("The rebuilt index would be the one that is searched; give its layout another generation.")
    following = OpenSearchPassages(live.wire, f"{live.alias.alias}-next", layout, corpus=live.alias.corpus)
    following.ensure_schema(fingerprint, dim)
    new = following.alias.now()
    if new is None:
        raise IndexUnavailable("The index that was just made is gone; somebody else removes indices of this corpus.")
    block = pause or (lambda blocked: set_block(live, old, blocked=blocked))
    bring_up(live, following, reindex)
    with ExitStack() as undo:
        undo.callback(block, False)
        block(True)
        bring_up(live, following, reindex)
        switch(live, old, new, also_from=following)
        undo.pop_all()
    return new


def bring_up(live: OpenSearchPassages, following: OpenSearchPassages, reindex: Reindex) -> int:
    """Make `following` hold what `live` holds; returns how many documents were written or removed."""
    there = dict(versions(following))
    moved = 0
    page: list[str] = []
    for pmid, version in versions(live):
        if there.pop(pmid, 0) < version:
            page.append(pmid)
        if len(page) == PAGE:
            reindex(page, following)
            moved, page = moved + len(page), []
    if page:
        reindex(page, following)
    if there:
        following.delete(list(there))
    return moved + len(page) + len(there)


def switch(live: OpenSearchPassages, old: Index, new: Index, also_from: OpenSearchPassages | None = None) -> None:
    """Let the alias of `live` mean `new` instead of `old`: at no moment does it mean both or neither."""
    name = live.alias.alias
    moves = [{"remove": {"index": old.name, "alias": name}}, {"add": {"index": new.name, "alias": name}}]
    if also_from is not None:
        moves.append({"remove": {"index": new.name, "alias": also_from.alias.alias}})
    live.alias.act(*moves)
    live.alias.forget()


def set_block(live: OpenSearchPassages, index: Index, *, blocked: bool) -> None:
    """Refuse, or take again, every write to `index`."""
    live.wire.ask("PUT", f"/{index.name}/_settings", {"index.blocks.write": blocked})


def versions(passages: OpenSearchPassages) -> Iterator[tuple[str, int]]:
    """PMID and version of every document that a search can see, by PMID."""
    index = passages.alias.now()
    after = 0
    while index is not None:
        asked = {
            "size": PAGE,
            "query": {"range": {"pmid": {"gt": after}}},
            "sort": [{"pmid": "asc"}],
            "_source": False,
            "stored_fields": "_none_",
            "docvalue_fields": ["pmid", "version"],
        }
        answer = passages.wire.ask("GET", f"/{index.name}/_search", asked, searching.checked)
        hits = answer["hits"]["hits"]
        for hit in hits:
            after = hit["fields"]["pmid"][0]
            yield str(after), hit["fields"]["version"][0]
        if len(hits) < PAGE:
            return
