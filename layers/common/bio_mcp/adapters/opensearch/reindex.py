"""A new index beside the one that is searched, and the switch between them in one step (blue/green)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Protocol

from bio_mcp.adapters.opensearch.index import Alias, Index
from bio_mcp.errors import Conflict, IndexUnavailable
from bio_mcp.ports.stores import Passages

PAGE = 500  # documents written at once


class Aliased(Passages, Protocol):
    """Passages in the index behind an alias: `OpenSearchPassages`."""

    @property
    def alias(self) -> Alias: ...

    def versions(self) -> Iterator[tuple[str, int]]: ...


Write = Callable[[Sequence[str], Passages], None]
"""Writes these PMIDs, at their present versions, to that index, and leaves out those that no longer exist."""


def rebuild(
    live: Aliased,
    following: Aliased,
    fingerprint: str,
    dim: int,
    write: Write,
    *,
    pause: Callable[[bool], None] | None = None,
) -> Index:
    """Fill `following`, for another model, from `live`, and move the alias of `live` to it; return the new index.

    May be stopped and started again: only what is missing or older there is written. Searches go on in the old index
    all the while; so do writes, until a last pass, for which it is blocked (on Serverless `pause` must see to that:
    it is called with True before the last pass, and with False should it fail). The old index stays, blocked, for a
    way back: `Alias.switch`; remove it when nobody wants that. The layout of `following` needs another `generation`
    for the same model.
    """
    old = live.alias.refresh()
    if old is None:
        raise IndexUnavailable("There is no index to rebuild; make its schema and sync.", retryable=False)
    if old.name == following.alias.index_name(fingerprint, dim):
        raise Conflict("The rebuilt index would be the one that is searched; give its layout another generation.")
    following.ensure_schema(fingerprint, dim)
    new = following.alias.refresh()
    if new is None:
        raise IndexUnavailable("The index that was just made is gone; somebody else removes indices of this corpus.")
    block = pause or (lambda blocked: live.alias.block(old, blocked=blocked))
    bring_up(live, following, write)
    with ExitStack() as undo:
        undo.callback(block, False)
        block(True)
        bring_up(live, following, write)
        live.alias.switch(old, new, also_from=following.alias)
        undo.pop_all()
    return new


def bring_up(live: Aliased, following: Aliased, write: Write) -> int:
    """Write to `following` what is newer in `live`, and delete the rest; return the number of documents changed."""
    there = dict(following.versions())
    moved = 0
    page: list[str] = []
    for pmid, version in live.versions():
        if there.pop(pmid, 0) < version:
            page.append(pmid)
        if len(page) == PAGE:
            write(page, following)
            moved, page = moved + len(page), []
    if page:
        write(page, following)
    if there:
        following.delete(list(there))
    return moved + len(page) + len(there)
