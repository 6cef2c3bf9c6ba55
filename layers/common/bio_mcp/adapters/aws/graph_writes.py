"""Writes to the graph in DynamoDB: nodes and edges are merged with what is stored, and counted."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bio_mcp.adapters.aws.batch_writes import batch_write
from bio_mcp.adapters.aws.dynamodb import Item, batch_get, item_key
from bio_mcp.adapters.aws.failures import BUSY
from bio_mcp.adapters.aws.graph_items import (
    RECORD,
    WHAT,
    Change,
    edge_change,
    edge_keys,
    node_change,
    node_key,
    partition_of_name,
    transactions,
)
from bio_mcp.adapters.aws.transactions import transact
from bio_mcp.adapters.graph import missing_nodes
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.errors import StoreFailed
from bio_mcp.graph.merging import merge_edges, merge_nodes
from bio_mcp.graph.names import folded_names
from bio_mcp.graph.nodes import Edge, Node
from bio_mcp.graph.records import edge_of, node_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

Texts = Mapping[str, str]  # key of an item, as text -> the record that it has


class Overtaken(StoreFailed):
    """Another writer changed a record between reading and writing it."""


class GraphWrites:
    """Each transaction holds whole changes: a write that is killed leaves some of them, which its repetition omits."""

    def __init__(self, client: "DynamoDBClient", table: str, backoff: Backoff) -> None:
        self._client = client
        self._table = table
        self._backoff = backoff

    def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """Merge the nodes, then the edges, with what is stored. What another changes meanwhile is merged again."""
        retry(partial(self._put, nodes, edges), worth=Overtaken, backoff=self._backoff)

    def _put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        ends = {end for edge in edges for end in (edge.from_id, edge.to_id)}
        before = self._texts(node_key(each) for each in ends | {node.node_id for node in nodes})
        stored = {node.node_id: node for node in (node_of(json.loads(text)) for text in before.values())}
        merged: dict[str, Node] = {}
        for node in nodes:
            merged[node.node_id] = merge_nodes(merged.get(node.node_id, stored.get(node.node_id)), node)
        if missing := ends - stored.keys() - merged.keys():
            raise missing_nodes(missing)
        changed = [node for node in merged.values() if node != stored.get(node.node_id)]
        self._add_names(changed, stored)
        self._write([node_change(self._table, node, before.get(_id(node_key(node.node_id)))) for node in changed])
        self._put_edges(edges)

    def _put_edges(self, edges: Sequence[Edge]) -> None:
        before = self._texts(edge_keys(key)[0] for key in {edge.key for edge in edges})
        stored = {edge.key: edge for edge in (edge_of(json.loads(text)) for text in before.values())}
        merged: dict[tuple[str, str, str], Edge] = {}
        for edge in edges:
            merged[edge.key] = merge_edges(merged.get(edge.key, stored.get(edge.key)), edge)
        changed = [merged[key] for key in sorted(merged) if merged[key] != stored.get(key)]
        self._write([edge_change(self._table, edge, before.get(_id(edge_keys(edge.key)[0]))) for edge in changed])

    def _texts(self, keys: Iterable[Item]) -> Texts:
        found = batch_get(self._client, self._table, list(keys), ("name", "item", RECORD), self._backoff)
        return {_id(item): item[RECORD]["S"] for item in found if RECORD in item}

    def _add_names(self, nodes: Sequence[Node], stored: Mapping[str, Node]) -> None:
        """Name the nodes by what they were not named by: before they have the names, so that none is found later."""
        requests = []
        for node in nodes:
            known = set(folded_names(stored[node.node_id])) if node.node_id in stored else set()
            new = [each for each in folded_names(node) if each not in known]
            requests += [{"PutRequest": {"Item": item_key(partition_of_name(each), node.node_id)}} for each in new]
        batch_write(self._client, self._table, requests, self._backoff)

    def _write(self, changes: Sequence[Change]) -> None:
        for writes in transactions(self._table, changes):
            if transact(self._client, writes, WHAT, self._backoff):
                raise Overtaken(BUSY.format(what=WHAT))


def _id(item: Item) -> str:
    """A key, as text."""
    return f"{item['name']['S']} {item['item']['S']}"
