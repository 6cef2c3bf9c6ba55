"""The graph of herbs, in a DynamoDB table with a partition for each node, as `graph_items` has it.

A step of a walk reads the first items with one beginning, however many edges a node has; how many those are is counted
in the node's own item. Only `names` scans the table.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bio_mcp.adapters.aws.dynamodb import BACKOFF, batch_get, in_parallel, partition
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.aws.graph_items import (
    CHANGES,
    COUNTERS,
    RECORD,
    WHAT,
    counter_key,
    node_key,
    partition_of,
    partition_of_name,
    walk_of,
)
from bio_mcp.adapters.aws.graph_writes import GraphWrites
from bio_mcp.adapters.retry import Backoff
from bio_mcp.graph.names import fold_name, folded_names, names_of
from bio_mcp.graph.nodes import Edge, EdgeType, Neighbours, Node, NodeType, Step
from bio_mcp.graph.records import edge_of, node_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

TYPES = tuple(each.value for kind in (NodeType, EdgeType) for each in kind)


class DynamoGraph:
    """The port `Graph` over one table (key: name, item)."""

    def __init__(self, client: "DynamoDBClient", table: str, backoff: Backoff = BACKOFF) -> None:
        self._client = client
        self._table = table
        self._backoff = backoff
        self._writes = GraphWrites(client, table, backoff)

    def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        with reaching(WHAT):
            self._writes.put(nodes, edges)

    def nodes(self, node_ids: Sequence[str]) -> dict[str, Node]:
        keys = [node_key(each) for each in dict.fromkeys(node_ids)]
        with reaching(WHAT):
            found = batch_get(self._client, self._table, keys, (RECORD,), self._backoff)
            nodes = [node_of(json.loads(item[RECORD]["S"])) for item in found]
        return {node.node_id: node for node in nodes}

    def neighbours(self, node_ids: Sequence[str], steps: Collection[Step], limit: int) -> dict[str, Neighbours]:
        walks = sorted({walk_of(step): step for step in steps}.items(), key=_order)
        with reaching(WHAT):
            counted = self._counted(node_ids, [name for name, _ in walks])
            wanted = [(each, name) for each, counts in counted.items() for name, _ in walks if name in counts]
            found = in_parallel([partial(self._edges, *each, limit) for each in wanted])
        edges: dict[str, list[Edge]] = {}
        for (node_id, _), at in zip(wanted, found, strict=True):
            edges.setdefault(node_id, []).extend(at)
        left_out = {each: sum(max(0, n - limit) for n in counted[each].values()) for each in edges}
        return {each: Neighbours(tuple(at), left_out[each]) for each, at in edges.items()}

    def named(self, names: Sequence[str]) -> dict[str, list[Node]]:
        folded = {name: fold for name in names if (fold := fold_name(name))}
        wanted = list(dict.fromkeys(folded.values()))
        with reaching(WHAT):
            ids = dict(zip(wanted, in_parallel([partial(self._ids, each) for each in wanted]), strict=True))
            nodes = self.nodes([each for several in ids.values() for each in several])
        having = {
            fold: [nodes[each] for each in several if each in nodes and fold in folded_names(nodes[each])]
            for fold, several in ids.items()
        }
        return {name: having[fold] for name, fold in folded.items() if having[fold]}

    def names(self) -> Iterator[tuple[str, Node]]:
        with reaching(WHAT):
            pages = self._client.get_paginator("scan").paginate(
                TableName=self._table,
                ConsistentRead=True,
                FilterExpression="#item = :node",
                ProjectionExpression="#record",
                ExpressionAttributeNames={"#item": "item", "#record": RECORD},
                ExpressionAttributeValues={":node": {"S": "node"}},
            )
            for item in (item for page in pages for item in page["Items"]):
                node = node_of(json.loads(item[RECORD]["S"]))
                yield from ((name, node) for name in names_of(node))

    def revision(self) -> str:
        return str(self._totals((CHANGES,)).get(CHANGES, ""))

    def count(self) -> Mapping[str, int]:
        return self._totals(TYPES)

    def _counted(self, node_ids: Sequence[str], walks: Sequence[str]) -> dict[str, dict[str, int]]:
        """By node, how many edges there are by each of these walks that it has."""
        if not walks:
            return {}
        named = {partition_of(each): each for each in node_ids}
        keys = [node_key(each) for each in named.values()]
        by_id: dict[str, dict[str, int]] = {}
        for item in batch_get(self._client, self._table, keys, ("name", *walks), self._backoff):
            by_id[named[item["name"]["S"]]] = {walk: int(item[walk]["N"]) for walk in walks if walk in item}
        return {each: by_id[each] for each in dict.fromkeys(node_ids) if by_id.get(each)}

    def _edges(self, node_id: str, walk: str, limit: int) -> list[Edge]:
        """The first edges of a node by a walk."""
        if not limit:
            return []
        items = partition(self._client, self._table, partition_of(node_id), begins=f"{walk} ", limit=limit)
        return [edge_of(json.loads(item[RECORD]["S"])) for item in items]

    def _ids(self, folded: str) -> list[str]:
        return [item["item"]["S"] for item in partition(self._client, self._table, partition_of_name(folded))]

    def _totals(self, names: Sequence[str]) -> dict[str, int]:
        """The sums of attributes of the counters; those that none has are absent."""
        keys = [counter_key(number) for number in range(COUNTERS)]
        totals: dict[str, int] = {}
        with reaching(WHAT):
            for item in batch_get(self._client, self._table, keys, names, self._backoff):
                for name in names:
                    if name in item:
                        totals[name] = totals.get(name, 0) + int(item[name]["N"])
        return totals


def _order(walk: tuple[str, Step]) -> tuple[str, bool]:
    """Walks come by type, forwards first."""
    return walk[1].edge.value, walk[1].backwards
