"""The graph of herbs, in a DynamoDB table with a partition for each node.

| name | item | has |
| --- | --- | --- |
| `node H1` | `node` | the node's record, and by step how many edges there are: `out treats` 3 |
| `node H1` | `out treats I05` | the edge's record, under the node that it leaves |
| `node I05` | `in treats H1` | the same, under the other |
| `name <hash>` | `H1` | nothing: a node that has the folded name of this hash |
| `counter 0` | `counter` | how many nodes and edges there are, by type, and how often they changed |

A step of a walk reads the first items with one beginning, however many edges a node has; how many those are is counted
in the node's own item. Only `names` scans the table.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from operator import attrgetter
from random import randrange
from typing import Any

from bio_mcp.adapters.aws.clients import BUSY
from bio_mcp.adapters.aws.table import (
    ACTIONS,
    MAX_BYTES,
    DynamoStore,
    Item,
    attributes,
    in_parallel,
    in_parts,
    item_key,
    typed,
)
from bio_mcp.adapters.retry import retry
from bio_mcp.adapters.stored import merged, missing_nodes, text_of
from bio_mcp.errors import StoreFailed
from bio_mcp.graph.nodes import (
    Edge,
    EdgeType,
    Neighbours,
    Node,
    NodeType,
    Step,
    edge_of,
    fold_name,
    folded_names,
    merge_edges,
    merge_nodes,
    names_of,
    node_of,
)

TYPES = tuple(each.value for kind in (NodeType, EdgeType) for each in kind)
RECORD = "record"
UNCHANGED = "#record = :before"
CHANGES = "changes"  # of a counter: transactions that it was part of
COUNTERS = 4  # one of which a writer takes at random, so that writers rarely meet


class Overtaken(StoreFailed):
    """Another writer changed a record between reading and writing it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A record to be written: the writes, and what is counted by it, as names of partitions and their attributes.

    `new` is the type of a node or an edge that there was not.
    """

    writes: tuple[Item, ...]
    size: int
    counted: tuple[tuple[str, str], ...] = ()
    new: str | None = None


class DynamoGraph(DynamoStore):
    """The port `Graph` over one table (key: name, item)."""

    WHAT = "the graph"

    def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """Merge the nodes, then the edges, with what is stored. What another changes meanwhile is merged again.

        Each transaction holds whole changes: a write that is killed leaves some of them, which its repetition omits.
        """
        retry(partial(self._put, nodes, edges), worth=Overtaken, backoff=self._table.backoff)

    def nodes(self, node_ids: Sequence[str]) -> dict[str, Node]:
        records = self._records(item_key(f"node {each}", "node") for each in dict.fromkeys(node_ids))
        return {node.node_id: node for node in (node_of(json.loads(text)) for text in records)}

    def neighbours(self, node_ids: Sequence[str], steps: Collection[Step], limit: int) -> dict[str, Neighbours]:
        in_order = sorted(set(steps), key=lambda step: (step.edge.value, step.backwards))
        walks = [walk_of(step) for step in in_order]
        counted = self._counted(node_ids, walks)
        wanted = [(each, name) for each, counts in counted.items() for name in walks if name in counts]
        found = in_parallel([partial(self._edges, *each, limit) for each in wanted])
        edges: dict[str, list[Edge]] = {}
        for (node_id, _), at in zip(wanted, found, strict=True):
            edges.setdefault(node_id, []).extend(at)
        left_out = {each: sum(max(0, n - limit) for n in counted[each].values()) for each in edges}
        return {each: Neighbours(tuple(at), left_out[each]) for each, at in edges.items()}

    def named(self, names: Sequence[str]) -> dict[str, list[Node]]:
        folded = {name: fold for name in names if (fold := fold_name(name))}
        wanted = list(dict.fromkeys(folded.values()))
        found: list[list[Item]] = in_parallel(
            [partial(list, self._table.partition(partition_of_name(each))) for each in wanted]
        )
        ids = {fold: [item["item"] for item in items] for fold, items in zip(wanted, found, strict=True)}
        nodes = self.nodes([each for several in ids.values() for each in several])
        having = {
            fold: [nodes[each] for each in several if each in nodes and fold in folded_names(nodes[each])]
            for fold, several in ids.items()
        }
        return {name: having[fold] for name, fold in folded.items() if having[fold]}

    def names(self) -> Iterator[tuple[str, Node]]:
        for item in self._table.scan((RECORD,), "#item = :node", node="node"):
            node = node_of(json.loads(item[RECORD]))
            yield from ((name, node) for name in names_of(node))

    def revision(self) -> str:
        return str(self._totals((CHANGES,)).get(CHANGES, ""))

    def count(self) -> Mapping[str, int]:
        return self._totals(TYPES)

    def _counted(self, node_ids: Sequence[str], walks: Sequence[str]) -> dict[str, dict[str, int]]:
        """By node, how many edges there are by each of these walks that it has."""
        if not walks:
            return {}
        named = {f"node {each}": each for each in node_ids}
        keys = [item_key(each, "node") for each in named]
        by_id: dict[str, dict[str, int]] = {}
        for item in self._table.batch_get_items(keys, ("name", *walks)):
            by_id[named[item["name"]]] = {walk: item[walk] for walk in walks if walk in item}
        return {each: by_id[each] for each in dict.fromkeys(node_ids) if by_id.get(each)}

    def _edges(self, node_id: str, walk: str, limit: int) -> list[Edge]:
        """The first edges of a node by a walk."""
        if not limit:
            return []
        items = self._table.partition(f"node {node_id}", begins=f"{walk} ", limit=limit)
        return [edge_of(json.loads(item[RECORD])) for item in items]

    def _totals(self, names: Sequence[str]) -> Counter[str]:
        """The sums of attributes of the counters; those that none has are absent."""
        keys = [item_key(f"counter {number}", "counter") for number in range(COUNTERS)]
        return sum(map(Counter[str], self._table.batch_get_items(keys, names)), Counter[str]())

    def _put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        ends = {end for edge in edges for end in (edge.from_id, edge.to_id)}
        before, stored = {}, {}
        for text in self._records(item_key(f"node {each}", "node") for each in ends | {node.node_id for node in nodes}):
            node = node_of(json.loads(text))
            before[node.node_id], stored[node.node_id] = text, node
        every = merged(nodes, stored, attrgetter("node_id"), merge_nodes)
        if missing := ends - stored.keys() - every.keys():
            raise missing_nodes(missing)
        changed = [node for node_id, node in every.items() if node != stored.get(node_id)]
        items = []  # names that a node was not named by: before it has them, so that none is found later
        for node in changed:
            known = set(folded_names(stored[node.node_id])) if node.node_id in stored else set()
            new = [each for each in folded_names(node) if each not in known]
            items += [item_key(partition_of_name(each), node.node_id) for each in new]
        self._table.batch_write_items(items)
        for part in in_parts((self._node_change(node, before.get(node.node_id)) for node in changed), _fits):
            self._write(part)
        self._put_edges(edges)

    def _put_edges(self, edges: Sequence[Edge]) -> None:
        before, stored = {}, {}
        for text in self._records(edge_keys(key)[0] for key in {edge.key for edge in edges}):
            edge = edge_of(json.loads(text))
            before[edge.key], stored[edge.key] = text, edge
        every = merged(edges, stored, attrgetter("key"), merge_edges)
        changed = [every[key] for key in sorted(every) if every[key] != stored.get(key)]
        for part in in_parts((self._edge_change(edge, before.get(edge.key)) for edge in changed), _fits):
            self._write(part)

    def _records(self, keys: Iterable[Item]) -> list[str]:
        """The records of those items that are there."""
        found = self._table.batch_get_items(list(keys), (RECORD,))
        return [item[RECORD] for item in found if RECORD in item]

    def _write(self, part: Sequence[Change]) -> None:
        """Write the changes, with what is counted by them, in one transaction."""
        by_node: dict[str, Counter[str]] = {}
        totals = Counter({CHANGES: 1})
        for change in part:
            for name, attribute in change.counted:
                by_node.setdefault(name, Counter())[attribute] += 1
            if change.new:
                totals[change.new] += 1
        counter = item_key(f"counter {randrange(COUNTERS)}", "counter")  # noqa: S311  # spreads load, hides nothing
        counts = [self._adding(item_key(name, "node"), counted) for name, counted in by_node.items()]
        writes = [write for change in part for write in change.writes]
        if self._table.transact_write_items([*writes, *counts, self._adding(counter, totals)]):
            raise Overtaken(BUSY.format(what=self._table.what))

    def _node_change(self, node: Node, before: str | None) -> Change:
        """Writes a node, of which `before` is stored; its counts stay."""
        text, new = text_of(node), node.type.value if before is None else None
        writing = self._recording(item_key(f"node {node.node_id}", "node"), text, before)
        return Change((writing,), len(text.encode()), new=new)

    def _edge_change(self, edge: Edge, before: str | None) -> Change:
        """Writes both items of an edge, of which `before` is stored."""
        text = text_of(edge)
        leaving, entering = edge_keys(edge.key)
        writes = (self._recording(leaving, text, before), self._table.putting({**entering, RECORD: text}))
        if before is not None:
            return Change(writes, 2 * len(text.encode()))
        counted = (
            (f"node {edge.from_id}", walk_of(Step(edge.type))),
            (f"node {edge.to_id}", walk_of(Step(edge.type, backwards=True))),
        )
        return Change(writes, 2 * len(text.encode()), counted, edge.type.value)

    def _recording(self, key: Item, text: str, before: str | None) -> Item:
        """Writes the record of an item if it is still `before`."""
        only, seen = ("attribute_not_exists(#record)", {}) if before is None else (UNCHANGED, {"before": before})
        return self._table.updating(key, "SET #record = :record", only, record=text, **seen)

    def _adding(self, key: Item, counted: Mapping[str, int]) -> Item:
        """Adds to attributes of an item, whose names have spaces."""
        numbers = dict(enumerate(counted.items()))
        update = {
            "TableName": self._table.name,
            "Key": attributes(key),
            "UpdateExpression": "ADD " + ", ".join(f"#{place} :{place}" for place in numbers),
            "ExpressionAttributeNames": {f"#{place}": name for place, (name, _) in numbers.items()},
            "ExpressionAttributeValues": {f":{place}": typed(by) for place, (_, by) in numbers.items()},
        }
        return {"Update": update}


def partition_of_name(folded: str) -> str:
    """The name of the items of the nodes that have a folded name, which may be longer than a key."""
    return f"name {sha256(folded.encode()).hexdigest()}"


def walk_of(step: Step) -> str:
    """How the items of the edges of a step begin, and the attribute of a node that counts them."""
    return f"{'in' if step.backwards else 'out'} {step.edge.value}"


def edge_keys(key: tuple[str, str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keys of an edge's two items: under the node that it leaves, under the other."""
    from_id, type_, to_id = key
    return item_key(f"node {from_id}", f"out {type_} {to_id}"), item_key(f"node {to_id}", f"in {type_} {from_id}")


def _fits(part: Sequence[Change]) -> bool:
    counted = {name for change in part for name, _ in change.counted}
    writes = sum(len(change.writes) for change in part) + len(counted) + 1
    return writes <= ACTIONS and sum(change.size for change in part) <= MAX_BYTES
