"""Papers of query keys and their news, in a DynamoDB table.

A query key has a partition of its papers and one of its entries, by their position; a paper has one of the query keys
that found it, with the version that each kind of entry was last made for.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.batch_writes import batch_write
from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, batch_get, in_parallel, item_key, partition
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.aws.transactions import ACTIONS, transact
from bio_mcp.adapters.news import entry_at
from bio_mcp.adapters.pmids import key
from bio_mcp.adapters.retry import Backoff
from bio_mcp.literature.changes import ChangeKind, CorpusChange
from bio_mcp.literature.clock import sortable
from bio_mcp.ports.news import Found, NewsEntry

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "news"
SETTLING_S = 30  # what another process stamped so long ago is stored, or never will be
WHOLE = "whole"
PAPERS = ACTIONS // 3  # whose items are written in one transaction


class DynamoNews:
    """The port `News` over one table (key: name, item). `clock` returns seconds since 1970."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        clock: Callable[[], float] = time.time,
        backoff: Backoff = BACKOFF,
    ) -> None:
        self._client, self._table, self._clock, self._backoff = client, table, clock, backoff

    def find(self, query_key: str, papers: Sequence[Found]) -> None:
        with reaching(WHAT):
            fresh = self._fresh(query_key, papers)
            self._add_dated(query_key, [each for each in fresh if each.at])
            undated = [each for each in fresh if not each.at]
            for start in range(0, len(undated), PAPERS):
                self._add_now(query_key, undated[start : start + PAPERS])

    def _fresh(self, query_key: str, papers: Sequence[Found]) -> list[Found]:
        """The papers that the key has not found before."""
        by_item = {_padded(each.pmid): each for each in papers}
        keys = [item_key(_found(query_key), item) for item in by_item]
        for known in batch_get(self._client, self._table, keys, ("item",), self._backoff):
            del by_item[known["item"]["S"]]
        return list(by_item.values())

    def record(self, changes: Sequence[CorpusChange]) -> None:
        entered = [each for each in changes if each.kind is not ChangeKind.NEW]
        in_parallel([partial(self._record, each) for each in entered])

    def since(self, query_key: str, after: str, limit: int) -> list[NewsEntry]:
        return self._entries(query_key, after, self._horizon(), limit, newest_first=False)

    def latest(self, query_key: str, limit: int) -> list[NewsEntry]:
        return self._entries(query_key, " ", self._horizon(), limit, newest_first=True)

    def pmids(self, query_key: str) -> Iterator[str]:
        with reaching(WHAT):
            for item in partition(self._client, self._table, _found(query_key)):
                yield str(int(item["item"]["S"]))

    def is_whole(self, query_key: str) -> bool:
        with reaching(WHAT):
            found = self._client.get_item(TableName=self._table, Key=_whole(query_key), ConsistentRead=True)
        return "Item" in found

    def set_whole(self, query_key: str) -> None:
        with reaching(WHAT):
            self._client.put_item(TableName=self._table, Item=_whole(query_key))

    def forget(self, query_key: str) -> None:
        with reaching(WHAT):
            self._delete([_whole(query_key)])
            self._delete([_key_of(each) for each in partition(self._client, self._table, _news(query_key))])
            found = [_key_of(each) for each in partition(self._client, self._table, _found(query_key))]
            self._delete([item_key(_paper(str(int(each["item"]["S"]))), query_key) for each in found])
            self._delete(found)

    def _add_dated(self, query_key: str, papers: Sequence[Found]) -> None:
        """Entries whose position does not depend on when they are written: a repetition replaces them."""
        items = [self._items(query_key, each) for each in papers]
        self._put([each for entry, paper, _ in items for each in (entry, paper)])
        self._put([found for _, _, found in items])

    def _add_now(self, query_key: str, papers: Sequence[Found]) -> None:
        items = [each for paper in papers for each in self._items(query_key, paper)]
        puts = [{"Put": {"TableName": self._table, "Item": each}} for each in items]
        transact(self._client, puts, WHAT, self._backoff)

    def _items(self, query_key: str, paper: Found) -> tuple[Item, Item, Item]:
        entry = NewsEntry(paper.at or self._now(), ChangeKind.NEW, str(key(paper.pmid)), paper.version)
        return (
            item_key(_news(query_key), entry.position),
            item_key(_paper(paper.pmid), query_key),
            item_key(_found(query_key), _padded(paper.pmid)),
        )

    def _record(self, change: CorpusChange) -> None:
        with reaching(WHAT):
            keys = [each["item"]["S"] for each in partition(self._client, self._table, _paper(change.pmid))]
            for query_key in keys:
                self._enter(query_key, change)
            if change.kind is ChangeKind.DELETED:
                self._delete([item_key(_found(each), _padded(change.pmid)) for each in keys])
                self._delete([item_key(_paper(change.pmid), each) for each in keys])

    def _enter(self, query_key: str, change: CorpusChange) -> None:
        """Enter a change for a key, unless it was entered before."""
        entry = NewsEntry(self._now(), change.kind, change.pmid, change.version)
        once: dict[str, Any] = {
            "TableName": self._table,
            "Key": item_key(_paper(change.pmid), query_key),
            "UpdateExpression": "SET #kind = :version",
            "ConditionExpression": "attribute_exists(#name) AND (attribute_not_exists(#kind) OR #kind < :version)",
            "ExpressionAttributeNames": {"#kind": change.kind.value, "#name": "name"},
            "ExpressionAttributeValues": {":version": {"N": str(change.version)}},
        }
        put = {"TableName": self._table, "Item": item_key(_news(query_key), entry.position)}
        transact(self._client, [{"Update": once}, {"Put": put}], WHAT, self._backoff)

    def _entries(self, query_key: str, after: str, until: str, limit: int, *, newest_first: bool) -> list[NewsEntry]:
        """Entries between two positions. No entry has either of them."""
        if after >= until:
            return []
        with reaching(WHAT):
            pages = self._client.get_paginator("query").paginate(
                TableName=self._table,
                ConsistentRead=True,
                KeyConditionExpression="#name = :name AND #item BETWEEN :after AND :until",
                ExpressionAttributeNames={"#name": "name", "#item": "item"},
                ExpressionAttributeValues={
                    ":name": {"S": _news(query_key)},
                    ":after": {"S": f"{after}\x00"},
                    ":until": {"S": until},
                },
                ScanIndexForward=not newest_first,
                PaginationConfig={"MaxItems": limit, "PageSize": limit},
            )
            return [entry_at(item["item"]["S"]) for page in pages for item in page["Items"]]

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)

    def _horizon(self) -> str:
        return sortable(datetime.fromtimestamp(self._clock() - SETTLING_S, UTC))

    def _put(self, items: Sequence[Item]) -> None:
        batch_write(self._client, self._table, [{"PutRequest": {"Item": each}} for each in items], self._backoff)

    def _delete(self, keys: Sequence[Item]) -> None:
        batch_write(self._client, self._table, [{"DeleteRequest": {"Key": each}} for each in keys], self._backoff)


def _found(query_key: str) -> str:
    return f"found {query_key}"


def _news(query_key: str) -> str:
    return f"news {query_key}"


def _paper(pmid: str) -> str:
    return f"paper {key(pmid)}"


def _padded(pmid: str) -> str:
    return f"{key(pmid):010}"


def _whole(query_key: str) -> dict[str, Any]:
    return item_key(f"query {query_key}", WHOLE)


def _key_of(item: Item) -> dict[str, Any]:
    return {name: item[name] for name in ("name", "item")}
