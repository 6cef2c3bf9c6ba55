"""The documents of projects, in a DynamoDB table with a partition for each project.

A document is an item, and so is each of its identifiers, which names the document, and each cursor. A document has an
identifier when both say so: the document lists it, and the identifier's item names the document. So a write that was
killed between the two leaves nothing wrong, only a document that is not found by all its names until it is put again.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.batch_writes import batch_write
from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, batch_get, in_parallel
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.aws.large_values import BODY, KEY, LargeValues
from bio_mcp.adapters.project_documents import from_row, to_row
from bio_mcp.adapters.retry import Backoff
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.stores import Blobs

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "documents of projects"
FOLDER = "project-documents"
DOCUMENT, IDENTIFIER, CURSOR = "document", "identifier", "cursor"
MAX_NAME = 900  # bytes of a name in a key, which may have 1,024; a longer one is hashed


class DynamoProjectDocuments:
    """The port `ProjectDocuments` over one table (key: project_id, item) and, for large documents, a bucket."""

    def __init__(
        self, client: "DynamoDBClient", table: str, blobs: Callable[[], Blobs], backoff: Backoff = BACKOFF
    ) -> None:
        self._client = client
        self._table = table
        self._contents = LargeValues(blobs, FOLDER)
        self._backoff = backoff

    def find(self, project_id: str, identifiers: Sequence[str]) -> list[ProjectDocument]:
        with reaching(WHAT):
            owners = self._owners(project_id, identifiers)
            stored = self._stored(project_id, owners.values())
            names = {name for _, listed in stored.values() for name in listed}
            owners |= self._owners(project_id, names - owners.keys())
        asked = set(identifiers)
        documents = [_document(*each, owners) for _, each in sorted(stored.items())]
        return [each for each in documents if each.identifiers & asked]

    def put(self, project_id: str, document: ProjectDocument) -> None:
        doc_id = {"doc_id": {"S": document.doc_id}}
        body = {"row": to_row(document), "identifiers": sorted(document.identifiers)}
        named = [{**_key(project_id, IDENTIFIER, each), **doc_id} for each in sorted(document.identifiers)]
        with reaching(WHAT):
            self._put(_key(project_id, DOCUMENT, document.doc_id), body)
            self._write([{"PutRequest": {"Item": each}} for each in named])

    def delete(self, project_id: str, doc_ids: Sequence[str]) -> None:
        """Delete the identifiers, then the documents: what was killed in between is repeated whole."""
        with reaching(WHAT):
            stored = self._stored(project_id, doc_ids)
            named = [(name, doc_id) for doc_id, (_, names) in stored.items() for name in names]
            in_parallel([partial(self._forget, project_id, *each) for each in named])
            self._delete([_key(project_id, DOCUMENT, each) for each in stored])

    def all(self, project_id: str) -> list[ProjectDocument]:
        stored: dict[str, tuple[dict[str, Any], list[str]]] = {}
        owners: dict[str, str] = {}
        with reaching(WHAT):
            for item in self._items(project_id):
                if "doc_id" in item:
                    owners[item["item"]["S"]] = item["doc_id"]["S"]
                elif item["item"]["S"].startswith(DOCUMENT):
                    body = self._body(item)
                    stored[body["row"]["work"]["doc_id"]] = body["row"], body["identifiers"]
        named = {each: _name(IDENTIFIER, each) for _, listed in stored.values() for each in listed}
        by_name = {each: owners[name] for each, name in named.items() if name in owners}
        return [_document(*each, by_name) for _, each in sorted(stored.items())]

    def cursor(self, project_id: str, library: str) -> dict[str, Any]:
        key = _key(project_id, CURSOR, library)
        with reaching(WHAT):
            item = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True).get("Item")
            return self._body(item) if item else {}

    def put_cursor(self, project_id: str, library: str, cursor: Mapping[str, Any]) -> None:
        with reaching(WHAT):
            self._put(_key(project_id, CURSOR, library), dict(cursor))

    def drop(self, project_id: str) -> None:
        with reaching(WHAT):
            self._delete([{name: item[name] for name in ("project_id", "item")} for item in self._items(project_id)])

    def _stored(self, project_id: str, doc_ids: Iterable[str]) -> dict[str, tuple[dict[str, Any], list[str]]]:
        """The rows of those documents that exist, with the identifiers that they list, by id."""
        keys = [_key(project_id, DOCUMENT, each) for each in dict.fromkeys(doc_ids)]
        found = batch_get(self._client, self._table, keys, (BODY, KEY), self._backoff)
        bodies = [self._body(item) for item in found]
        return {each["row"]["work"]["doc_id"]: (each["row"], each["identifiers"]) for each in bodies}

    def _owners(self, project_id: str, identifiers: Iterable[str]) -> dict[str, str]:
        """The ids of the documents that the identifiers name."""
        named = {_name(IDENTIFIER, each): each for each in identifiers}
        keys = [{"project_id": {"S": project_id}, "item": {"S": name}} for name in named]
        found = batch_get(self._client, self._table, keys, ("item", "doc_id"), self._backoff)
        return {named[item["item"]["S"]]: item["doc_id"]["S"] for item in found}

    def _items(self, project_id: str) -> Iterable[Item]:
        pages = self._client.get_paginator("query").paginate(
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="#project = :project",
            ExpressionAttributeNames={"#project": "project_id"},
            ExpressionAttributeValues={":project": {"S": project_id}},
        )
        return (item for page in pages for item in page["Items"])

    def _forget(self, project_id: str, identifier: str, doc_id: str) -> None:
        """Delete the identifier unless it names another document."""
        with reaching(WHAT), suppress(self._client.exceptions.ConditionalCheckFailedException):
            self._client.delete_item(
                TableName=self._table,
                Key=_key(project_id, IDENTIFIER, identifier),
                ConditionExpression="#doc_id = :doc_id",
                ExpressionAttributeNames={"#doc_id": "doc_id"},
                ExpressionAttributeValues={":doc_id": {"S": doc_id}},
            )

    def _put(self, key: dict[str, Any], body: Mapping[str, Any]) -> None:
        packed = zlib.compress(json.dumps(body).encode())
        self._client.put_item(TableName=self._table, Item={**key, **self._contents.attributes(packed)})

    def _body(self, item: Item) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(zlib.decompress(self._contents.of(item)))
        return body

    def _delete(self, keys: Sequence[Item]) -> None:
        self._write([{"DeleteRequest": {"Key": each}} for each in keys])

    def _write(self, requests: Sequence[Mapping[str, Any]]) -> None:
        batch_write(self._client, self._table, requests, self._backoff)


def _document(row: Mapping[str, Any], listed: Iterable[str], owners: Mapping[str, str]) -> ProjectDocument:
    doc_id = row["work"]["doc_id"]
    return from_row(row, (each for each in listed if owners.get(each) == doc_id))


def _key(project_id: str, kind: str, name: str) -> dict[str, Any]:
    return {"project_id": {"S": project_id}, "item": {"S": _name(kind, name)}}


def _name(kind: str, name: str) -> str:
    """What an item is called in its partition: nothing of one kind is called as something of another."""
    encoded = name.encode()
    return f"{kind} {name}" if len(encoded) <= MAX_NAME else f"{kind}-hash {sha256(encoded).hexdigest()}"
