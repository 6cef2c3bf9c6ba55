"""Articles, in a DynamoDB table with one item each.

An item has the attributes that decide whether a record is new beside the compressed article. Reading heads alone costs
as much as reading whole items, as DynamoDB bills at least 4 KB for each, but transfers and decompresses no articles.

The number of articles is in counters of the same table (see `exact_count`), and so is who has a DOI or PMCID (see
`paper_identifiers`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, batch_get, in_parallel
from bio_mcp.adapters.aws.exact_count import CountedItems
from bio_mcp.adapters.aws.failures import Contended, reaching
from bio_mcp.adapters.aws.large_values import BODY, KEY, LargeValues
from bio_mcp.adapters.aws.paper_identifiers import LISTED, PaperIdentifiers, listed, listed_in
from bio_mcp.adapters.papers import Codec, unknown_paper, unknown_version
from bio_mcp.adapters.pmids import key, numbers
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.literature.paper_identifiers import paper_identifiers
from bio_mcp.literature.records import Document, Head
from bio_mcp.ports.stores import Blobs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


WHAT = "papers"
HEAD = ("pmid", "content_hash", "version", "indexed_version", "pmid_version", "date_revised")
WHOLE = (*HEAD, BODY, KEY)
FOLDER = "articles"


class DynamoDocuments:
    """The port `Documents` over one table (key: pmid) and, for articles too large for it, a bucket."""

    def __init__(
        self, client: "DynamoDBClient", table: str, blobs: Callable[[], Blobs], codec: Codec, backoff: Backoff = BACKOFF
    ) -> None:
        self._client = client
        self._table = table
        self._articles = LargeValues(blobs, FOLDER)
        self._codec = codec
        self._backoff = backoff
        self._counted = CountedItems(client, table, "pmid", backoff)
        self._identifiers = PaperIdentifiers(client, table, backoff)

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
        in_parallel([partial(self._replace, items[pmid], newest[pmid].indexed_version) for pmid in existing])

    def at_version(self, pmid: str, version: int) -> Document:
        """Return the newest version, if it is the one; older ones are not stored yet."""
        found = self.get_many([pmid]).get(pmid)
        if found is None or found.version != version:
            raise unknown_version(pmid, version)
        return replace(found, indexed_version=0)

    def mark_indexed(self, versions: Mapping[str, int]) -> None:
        in_parallel([partial(self._mark, str(n), versions[str(n)]) for n in numbers(versions)])

    def delete(self, pmids: Sequence[str]) -> int:
        with reaching(WHAT):
            return self._counted.remove([str(n) for n in numbers(pmids)])

    def count(self) -> int:
        with reaching(WHAT):
            return self._counted.total()

    def pmids(self) -> Iterator[str]:
        with reaching(WHAT):
            yield from self._counted.names()

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

    def _replace(self, item: Item, mark: int) -> None:
        """Overwrite the stored document if this one's version is higher, retaining the higher indexed version."""
        changed = [name for name in item if name not in ("pmid", "indexed_version")]
        change = "SET " + ", ".join(f"#{name} = :{name}" for name in changed)
        self._update(item["pmid"]["S"], change, "version", {name: item[name] for name in changed})
        if mark:
            self._mark(item["pmid"]["S"], mark)

    def _mark(self, pmid: str, version: int) -> None:
        self._update(
            pmid, "SET #indexed_version = :indexed_version", "indexed_version", {"indexed_version": {"N": str(version)}}
        )

    def _update(self, pmid: str, change: str, rises: str, values: Item) -> None:
        """Change the item if it exists and its attribute `rises` increases; otherwise leave it alone."""
        request: dict[str, Any] = {
            "TableName": self._table,
            "Key": {"pmid": {"S": pmid}},
            "UpdateExpression": change,
            "ConditionExpression": f"#{rises} < :{rises}",
            "ExpressionAttributeNames": {f"#{name}": name for name in values},
            "ExpressionAttributeValues": {f":{name}": value for name, value in values.items()},
        }

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
