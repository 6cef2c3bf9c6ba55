"""The items of the graph in DynamoDB.

| name | item | has |
| --- | --- | --- |
| `node H1` | `node` | the node's record, and by step how many edges there are: `out treats` 3 |
| `node H1` | `out treats I05` | the edge's record, under the node that it leaves |
| `node I05` | `in treats H1` | the same, under the other |
| `name <hash>` | `H1` | nothing: a node that has the folded name of this hash |
| `counter 0` | `counter` | how many nodes and edges there are, by type, and how often they changed |
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import randrange
from typing import Any

from bio_mcp.adapters.aws.dynamodb import Item, item_key
from bio_mcp.adapters.aws.transactions import ACTIONS, MAX_BYTES
from bio_mcp.adapters.graph import text_of
from bio_mcp.graph.nodes import Edge, Node, Step

WHAT = "the graph"
RECORD = "record"
UNCHANGED = "#record = :before"
CHANGES = "changes"  # of a counter: transactions that it was part of
COUNTERS = 4  # one of which a writer takes at random, so that writers rarely meet


def partition_of(node_id: str) -> str:
    """The name of a node's item and of its edges."""
    return f"node {node_id}"


def partition_of_name(folded: str) -> str:
    """The name of the items of the nodes that have a folded name, which may be longer than a key."""
    return f"name {sha256(folded.encode()).hexdigest()}"


def node_key(node_id: str) -> dict[str, Any]:
    """The key of a node's own item."""
    return item_key(partition_of(node_id), "node")


def counter_key(number: int) -> dict[str, Any]:
    """The key of a counter."""
    return item_key(f"counter {number}", "counter")


def walk_of(step: Step) -> str:
    """How the items of the edges of a step begin, and the attribute of a node that counts them."""
    return f"{'in' if step.backwards else 'out'} {step.edge.value}"


def edge_keys(key: tuple[str, str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keys of an edge's two items: under the node that it leaves, under the other."""
    from_id, type_, to_id = key
    return (
        item_key(partition_of(from_id), f"out {type_} {to_id}"),
        item_key(partition_of(to_id), f"in {type_} {from_id}"),
    )


@dataclass(frozen=True, slots=True)
class Change:
    """A record to be written: the writes, and what is counted by it, as names of partitions and their attributes.

    `new` is the type of a node or an edge that there was not.
    """

    writes: tuple[dict[str, Any], ...]
    size: int
    counted: tuple[tuple[str, str], ...] = ()
    new: str | None = None


def node_change(table: str, node: Node, before: str | None) -> Change:
    """Writes a node, of which `before` is stored; its counts stay."""
    text, key = text_of(node), node_key(node.node_id)
    if before is None:
        return Change((_put(table, key, text, None),), len(text.encode()), new=node.type.value)
    update = {
        "TableName": table,
        "Key": key,
        "UpdateExpression": "SET #record = :record",
        "ConditionExpression": UNCHANGED,
        "ExpressionAttributeNames": {"#record": RECORD},
        "ExpressionAttributeValues": {":record": {"S": text}, ":before": {"S": before}},
    }
    return Change(({"Update": update},), len(text.encode()))


def edge_change(table: str, edge: Edge, before: str | None) -> Change:
    """Writes both items of an edge, of which `before` is stored."""
    text = text_of(edge)
    leaving, entering = edge_keys(edge.key)
    writes = (
        _put(table, leaving, text, before),
        {"Put": {"TableName": table, "Item": {**entering, RECORD: {"S": text}}}},
    )
    if before is not None:
        return Change(writes, 2 * len(text.encode()))
    counted = (
        (partition_of(edge.from_id), walk_of(Step(edge.type))),
        (partition_of(edge.to_id), walk_of(Step(edge.type, backwards=True))),
    )
    return Change(writes, 2 * len(text.encode()), counted, edge.type.value)


def _put(table: str, key: Item, text: str, before: str | None) -> dict[str, Any]:
    """Writes an item if its record is still `before`."""
    put: dict[str, Any] = {
        "TableName": table,
        "Item": {**key, RECORD: {"S": text}},
        "ConditionExpression": "attribute_not_exists(#record)" if before is None else UNCHANGED,
        "ExpressionAttributeNames": {"#record": RECORD},
    }
    return {"Put": put if before is None else put | {"ExpressionAttributeValues": {":before": {"S": before}}}}


def transactions(table: str, changes: Sequence[Change]) -> Iterator[list[dict[str, Any]]]:
    """The writes of the changes, with those of their counts, in parts that each fit into a transaction."""
    part: list[Change] = []
    for change in changes:
        if part and not _fits([*part, change]):
            yield _whole(table, part)
            part = []
        part.append(change)
    if part:
        yield _whole(table, part)


def _fits(part: Sequence[Change]) -> bool:
    counted = {name for change in part for name, _ in change.counted}
    writes = sum(len(change.writes) for change in part) + len(counted) + 1
    return writes <= ACTIONS and sum(change.size for change in part) <= MAX_BYTES


def _whole(table: str, part: Sequence[Change]) -> list[dict[str, Any]]:
    by_node: dict[str, dict[str, int]] = {}
    totals = {CHANGES: 1}
    for change in part:
        for name, attribute in change.counted:
            _count(by_node.setdefault(name, {}), attribute)
        if change.new:
            _count(totals, change.new)
    counter = counter_key(randrange(COUNTERS))  # noqa: S311  # spreads load, hides nothing
    counts = [_adding(table, item_key(name, "node"), counted) for name, counted in by_node.items()]
    return [*(write for change in part for write in change.writes), *counts, _adding(table, counter, totals)]


def _count(counted: dict[str, int], attribute: str) -> None:
    counted[attribute] = counted.get(attribute, 0) + 1


def _adding(table: str, key: Item, counted: Mapping[str, int]) -> dict[str, Any]:
    numbers = {f"{place}": each for place, each in enumerate(counted.items())}
    update = {
        "TableName": table,
        "Key": key,
        "UpdateExpression": "ADD " + ", ".join(f"#{place} :{place}" for place in numbers),
        "ExpressionAttributeNames": {f"#{place}": attribute for place, (attribute, _) in numbers.items()},
        "ExpressionAttributeValues": {f":{place}": {"N": str(by)} for place, (_, by) in numbers.items()},
    }
    return {"Update": update}
