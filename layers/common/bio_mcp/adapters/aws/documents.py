"""Articles, in a DynamoDB table with one item each.

An item has the attributes that decide whether a record is new beside the compressed article. Reading heads alone costs
as much as reading whole items, as DynamoDB bills at least 4 KB for each, but transfers and decompresses no articles.

The number of articles is in counters of the same table (see `exact_count`), and so are who has a DOI or PMCID (see
`paper_identifiers`) and what a paper was before it was revised (see `old_versions`).
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.batch_writes import batch_write
from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, batch_get, in_parallel
from bio_mcp.adapters.aws.exact_count import CountedItems
from bio_mcp.adapters.aws.failures import BUSY, Contended, reaching
from bio_mcp.adapters.aws.large_values import BODY, KEY, LargeValues
from bio_mcp.adapters.aws.old_versions import VERSIONS, OldVersions, old_key
from bio_mcp.adapters.aws.paper_days import PaperDays
from bio_mcp.adapters.aws.paper_identifiers import LISTED, PaperIdentifiers, listed, listed_in
from bio_mcp.adapters.aws.transactions import transact
from bio_mcp.adapters.papers import Codec, unknown_paper, unknown_version
from bio_mcp.adapters.pmids import key, numbers
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.literature.paper_identifiers import paper_identifiers
from bio_mcp.literature.records import Document, Head
from bio_mcp.ports.stores import Blobs, StoredDay

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


WHAT = "papers"
HEAD = ("pmid", "content_hash", "version", "indexed_version", "pmid_version", "date_revised")
WHOLE = (*HEAD, BODY, KEY)
FOLDER = "articles"


class DynamoDocuments:
    """The port `Documents` over one table (key: pmid) and, for articles too large for it, a bucket."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        blobs: Callable[[], Blobs],
        codec: Codec,
        backoff: Backoff = BACKOFF,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._table = table
        self._articles = LargeValues(blobs, FOLDER)
        self._old = OldVersions(blobs, FOLDER)
        self._codec = codec
        self._backoff = backoff
        self._counted = CountedItems(client, table, "pmid", backoff)
        self._identifiers = PaperIdentifiers(client, table, backoff)
        self._days = PaperDays(client, table, clock, backoff)

    def get(self, pmid: str) -> Document:
        documents = self.get_many([pmid])
        if pmid not in documents:
            raise unknown_paper(pmid)
        return documents[pmid]

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        return {pmid: self._document(item) for pmid, item in self._items(pmids, WHOLE).items()}

    def heads(self, pmids: Sequence[str]) -> dict[str, Head]:
        return {pmid: _head(item) for pmid, item in self._items(pmids, HEAD).items()}

    def resolve(self, identifiers: Sequence[str]) -> dict[str, str]:
        with reaching(WHAT):
            named = self._identifiers.pmids(identifiers)
        items = self._items([pmid for pmids in named.values() for pmid in pmids], ("pmid", LISTED))
        having = {each: [pmid for pmid in named[each] if each in listed_in(items.get(pmid, {}))] for each in named}
        return {each: min(pmids, key=int) for each, pmids in having.items() if pmids}

    def put(self, documents: Sequence[Document]) -> None:
        newest: dict[str, Document] = {}
        for document in documents:
            pmid = str(key(document.article.pmid))
            if pmid not in newest or newest[pmid].version < document.version:
                newest[pmid] = document
        items = {pmid: self._item(pmid, document) for pmid, document in newest.items()}
        with reaching(WHAT):
            self._identifiers.add({pmid: listed_in(item) for pmid, item in items.items()})
            existing = self._counted.add(items)
        replaced = in_parallel([partial(self._replace, items[pmid], newest[pmid].indexed_version) for pmid in existing])
        with reaching(WHAT):
            self._days.add(len(items) - len(existing), sum(replaced))

    def at_version(self, pmid: str, version: int) -> Document:
        with reaching(WHAT):
            [number] = numbers([pmid]) or [-1]
            stored, old = self._stored(str(number))
            found = self._old.found(version, stored, old) if stored else None
        if found is None:
            raise unknown_version(pmid, version)
        content_hash, body = found
        return Document(self._codec.loads(body), content_hash, version)

    def mark_indexed(self, versions: Mapping[str, int]) -> None:
        in_parallel([partial(self._mark, str(n), versions[str(n)]) for n in numbers(versions)])

    def delete(self, pmids: Sequence[str]) -> int:
        """Delete old versions first: what is killed in between has none, rather than those of a paper that is gone."""
        wanted = [str(n) for n in numbers(pmids)]
        with reaching(WHAT):
            forgotten = [{"DeleteRequest": {"Key": old_key(each)}} for each in dict.fromkeys(wanted)]
            batch_write(self._client, self._table, forgotten, self._backoff)
            return self._counted.remove(wanted)

    def count(self) -> int:
        with reaching(WHAT):
            return self._counted.total()

    def pmids(self) -> Iterator[str]:
        with reaching(WHAT):
            yield from self._counted.names()

    def stored_by_day(self, days: int) -> list[StoredDay]:
        with reaching(WHAT):
            return self._days.last(days)

    def _items(self, pmids: Sequence[str], attributes: Sequence[str]) -> dict[str, Item]:
        keys = [{"pmid": {"S": str(n)}} for n in numbers(pmids)]
        with reaching(WHAT):
            found = batch_get(self._client, self._table, keys, attributes, self._backoff)
            return {item["pmid"]["S"]: item for item in found}

    def _item(self, pmid: str, document: Document) -> Item:
        revised = document.article.date_revised
        return {
            "pmid": {"S": pmid},
            "content_hash": {"S": document.content_hash},
            "version": {"N": str(document.version)},
            "indexed_version": {"N": str(document.indexed_version)},
            "pmid_version": {"N": str(document.article.pmid_version)},
            "date_revised": {"S": revised.isoformat()} if revised else {"NULL": True},
            **listed(paper_identifiers(document.article)),
            **self._articles.attributes(self._codec.dumps(document.article)),
        }

    def _replace(self, item: Item, mark: int) -> bool:
        """Overwrite the stored document if this one's version is higher, retaining the higher indexed version; returns
        whether it was."""
        replaced = retry(partial(self._replace_lower, item), worth=Contended, backoff=self._backoff)
        if mark:
            self._mark(item["pmid"]["S"], mark)
        return replaced

    def _replace_lower(self, item: Item) -> bool:
        """Overwrite a lower version and store it among the old ones; returns whether there was one. Raises `Contended`
        if another did so first."""
        with reaching(WHAT):
            stored, old = self._stored(item["pmid"]["S"])
            if not stored or int(stored["version"]["N"]) >= int(item["version"]["N"]):
                return False
            changed = {name: each for name, each in item.items() if name not in ("pmid", "indexed_version")}
            replacing = self._changing(item["pmid"]["S"], changed) | {"ConditionExpression": "#version = :replaced"}
            replacing["ExpressionAttributeValues"] |= {":replaced": stored["version"]}
            put = {"TableName": self._table, "Item": self._old.with_replaced(old, stored)}
            if transact(self._client, [{"Put": put}, {"Update": replacing}], WHAT, self._backoff):
                raise Contended(BUSY.format(what=WHAT))
            return True

    def _stored(self, pmid: str) -> tuple[Item, Item]:
        """The item of a paper, and that of its old versions; empty where there is none."""
        keys = ({"pmid": {"S": pmid}}, old_key(pmid))
        found = list(batch_get(self._client, self._table, keys, (*WHOLE, VERSIONS), self._backoff))
        by_key = {item["pmid"]["S"]: item for item in found}
        stored, old = (by_key.get(each["pmid"]["S"], {}) for each in keys)
        return stored, old

    def _changing(self, pmid: str, values: Item) -> dict[str, Any]:
        """A request that sets attributes of a paper's item."""
        return {
            "TableName": self._table,
            "Key": {"pmid": {"S": pmid}},
            "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in values),
            "ExpressionAttributeNames": {f"#{name}": name for name in values},
            "ExpressionAttributeValues": {f":{name}": value for name, value in values.items()},
        }

    def _mark(self, pmid: str, version: int) -> None:
        """Raise the indexed version of a paper, if it is lower."""
        request = self._changing(pmid, {"indexed_version": {"N": str(version)}})
        request["ConditionExpression"] = "#indexed_version < :indexed_version"

        def update() -> None:
            with reaching(WHAT), suppress(self._client.exceptions.ConditionalCheckFailedException):
                self._client.update_item(**request)

        retry(update, worth=Contended, backoff=self._backoff)

    def _document(self, item: Item) -> Document:
        head = _head(item)
        article = self._codec.loads(self._articles.of(item))
        return Document(article, head.content_hash, head.version, head.indexed_version)


def _head(item: Item) -> Head:
    revised = item["date_revised"].get("S")
    return Head(
        item["content_hash"]["S"],
        int(item["version"]["N"]),
        int(item["indexed_version"]["N"]),
        int(item["pmid_version"]["N"]),
        date.fromisoformat(revised) if revised else None,
    )
