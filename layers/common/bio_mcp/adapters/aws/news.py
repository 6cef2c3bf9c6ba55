"""Papers of query keys and their news, in a DynamoDB table.

A query key has a partition of its papers and one of its entries, by their position; a paper has one of the query keys
that found it, with the version that each kind of entry was last made for.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

from bio_mcp.adapters.aws.table import ACTIONS, DynamoStore, Item, in_parallel, item_key
from bio_mcp.adapters.stored import entry_at, key
from bio_mcp.literature.clock import sortable
from bio_mcp.literature.records import ChangeKind, CorpusChange
from bio_mcp.ports.state import Found, NewsEntry

SETTLING_S = 30  # what another process stamped so long ago is stored, or never will be
WHOLE = "whole"
PAPERS = ACTIONS // 3  # whose items are written in one transaction


class DynamoNews(DynamoStore):
    """The port `News` over one table (key: name, item)."""

    WHAT = "news"

    def find(self, query_key: str, papers: Sequence[Found]) -> None:
        by_item = {f"{key(each.pmid):010}": each for each in papers}
        keys = [item_key(f"found {query_key}", item) for item in by_item]
        for known in self._table.batch_get_items(keys, ("item",)):
            del by_item[known["item"]]
        fresh = by_item.values()
        dated = [self._items(query_key, each) for each in fresh if each.at]  # a repetition replaces these
        self._table.batch_write_items([each for entry, paper, _ in dated for each in (entry, paper)])
        self._table.batch_write_items([found for _, _, found in dated])
        undated = [self._items(query_key, each) for each in fresh if not each.at]
        for start in range(0, len(undated), PAPERS):
            part = [self._table.putting(each) for items in undated[start : start + PAPERS] for each in items]
            self._table.transact_write_items(part)

    def record(self, changes: Sequence[CorpusChange]) -> None:
        entered = [each for each in changes if each.kind is not ChangeKind.NEW]
        in_parallel([partial(self._record, each) for each in entered])

    def since(self, query_key: str, after: str, limit: int, *, newest_first: bool = False) -> list[NewsEntry]:
        until = sortable(datetime.fromtimestamp(self._clock() - SETTLING_S, UTC))
        if after >= until:
            return []
        found = self._table.query(
            "#name = :name AND #item BETWEEN :after AND :until",  # no entry has either position
            newest_first=newest_first,
            limit=limit,
            name=f"news {query_key}",
            after=f"{after}\x00",
            until=until,
        )
        return [entry_at(item["item"]) for item in found]

    def pmids(self, query_key: str) -> Iterator[str]:
        yield from (str(int(item["item"])) for item in self._table.partition(f"found {query_key}"))

    def is_whole(self, query_key: str) -> bool:
        return self._table.get_item(item_key(f"query {query_key}", WHOLE)) is not None

    def set_whole(self, query_key: str) -> None:
        self._table.put_item(item_key(f"query {query_key}", WHOLE))

    def forget(self, query_key: str) -> None:
        self._table.batch_write_items(deletes=[item_key(f"query {query_key}", WHOLE)])
        self._table.batch_write_items(deletes=list(self._table.partition(f"news {query_key}", names=("name", "item"))))
        found = list(self._table.partition(f"found {query_key}", names=("name", "item")))
        papers = [item_key(_paper(str(int(each["item"]))), query_key) for each in found]
        self._table.batch_write_items(deletes=papers)
        self._table.batch_write_items(deletes=found)

    def _items(self, query_key: str, paper: Found) -> tuple[Item, Item, Item]:
        at = paper.at or datetime.fromtimestamp(self._clock(), UTC)
        entry = NewsEntry(at, ChangeKind.NEW, str(key(paper.pmid)), paper.version)
        return (
            item_key(f"news {query_key}", entry.position),
            item_key(_paper(paper.pmid), query_key),
            item_key(f"found {query_key}", f"{key(paper.pmid):010}"),
        )

    def _record(self, change: CorpusChange) -> None:
        """Enter a change for each key that found the paper, unless it was entered before."""
        keys, kind = [each["item"] for each in self._table.partition(_paper(change.pmid))], change.kind.value
        for query_key in keys:
            entry = NewsEntry(datetime.fromtimestamp(self._clock(), UTC), change.kind, change.pmid, change.version)
            once = self._table.updating(
                item_key(_paper(change.pmid), query_key),
                f"SET #{kind} = :version",
                f"attribute_exists(#name) AND (attribute_not_exists(#{kind}) OR #{kind} < :version)",
                version=change.version,
            )
            put = self._table.putting(item_key(f"news {query_key}", entry.position))
            self._table.transact_write_items([once, put])
        if change.kind is ChangeKind.DELETED:
            number, paper = f"{key(change.pmid):010}", _paper(change.pmid)
            self._table.batch_write_items(deletes=[item_key(f"found {each}", number) for each in keys])
            self._table.batch_write_items(deletes=[item_key(paper, each) for each in keys])


def _paper(pmid: str) -> str:
    return f"paper {key(pmid)}"
