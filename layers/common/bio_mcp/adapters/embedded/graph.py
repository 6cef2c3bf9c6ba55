"""The graph of herbs, in the corpus file."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from operator import attrgetter
from typing import Any, TypeVar

from bio_mcp.adapters.embedded.database import Store
from bio_mcp.adapters.stored import merged, missing_nodes, text_of
from bio_mcp.graph.nodes import (
    Edge,
    Neighbours,
    Node,
    Step,
    edge_of,
    fold_name,
    folded_names,
    merge_edges,
    merge_nodes,
    names_of,
    node_of,
)

T = TypeVar("T")
_REVISION = "SELECT revision FROM graph_revision"
_NODES = "SELECT record FROM graph_nodes WHERE node_id IN (SELECT value FROM json_each(?))"
_NAMED = "SELECT DISTINCT record FROM graph_names JOIN graph_nodes USING (node_id) WHERE name = ? ORDER BY node_id"
_PAGE = "SELECT node_id, record FROM graph_nodes WHERE node_id > ? ORDER BY node_id LIMIT ?"


class SqliteGraph(Store):
    """The port `Graph` over the corpus file."""

    def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        with self._database.writing() as connection:
            written = [*_put_nodes(connection, nodes), *_put_edges(connection, edges)]
            if written:
                [before] = connection.execute(_REVISION).fetchone() or [""]
                revision = sha256("\n".join([before, *written]).encode()).hexdigest()
                connection.execute("DELETE FROM graph_revision")
                connection.execute("INSERT INTO graph_revision VALUES (?)", (revision,))

    def nodes(self, node_ids: Sequence[str]) -> dict[str, Node]:
        with self._database.reading() as connection:
            return _nodes(connection, node_ids)

    def neighbours(self, node_ids: Sequence[str], steps: Collection[Step], limit: int) -> dict[str, Neighbours]:
        with self._database.reading() as connection:
            found = {each: _neighbours(connection, each, steps, limit) for each in dict.fromkeys(node_ids)}
        return {each: at for each, at in found.items() if at.edges or at.left_out}

    def named(self, names: Sequence[str]) -> dict[str, list[Node]]:
        with self._database.reading() as connection:
            found = {name: connection.execute(_NAMED, (fold_name(name),)).fetchall() for name in names}
        return {name: _decoded(node_of, (record for (record,) in rows)) for name, rows in found.items() if rows}

    def names(self) -> Iterator[tuple[str, Node]]:
        for page in self._database.pages(_PAGE, after=""):
            yield from ((name, node) for node in _decoded(node_of, (row[1] for row in page)) for name in names_of(node))

    def revision(self) -> str:
        row = self._database.row(_REVISION)
        return str(row[0]) if row else ""

    def count(self) -> Mapping[str, int]:
        counted = (f"SELECT type, count(*) FROM graph_{kind} GROUP BY type" for kind in ("nodes", "edges"))  # noqa: S608
        return dict(self._database.rows(" UNION ALL ".join(counted)))


def _nodes(connection: sqlite3.Connection, node_ids: Iterable[str]) -> dict[str, Node]:
    rows = connection.execute(_NODES, (json.dumps(list(node_ids)),))
    return {node.node_id: node for node in _decoded(node_of, (record for (record,) in rows))}


def _decoded(of: Callable[[Any], T], records: Iterable[str]) -> list[T]:
    """What many records are of, decoded in a third of the time that each by itself takes."""
    return list(map(of, json.loads(f"[{','.join(records)}]")))


def _put_nodes(connection: sqlite3.Connection, given: Sequence[Node]) -> list[str]:
    """Merge nodes with what is stored; return the records that changed."""
    stored = _nodes(connection, {each.node_id for each in given})
    every = merged(given, stored, attrgetter("node_id"), merge_nodes)
    changed = [node for node_id, node in every.items() if node != stored.get(node_id)]
    rows = [(node.node_id, node.type.value, text_of(node)) for node in changed]
    connection.executemany("INSERT OR REPLACE INTO graph_nodes VALUES (?, ?, ?)", rows)
    names = ((folded, node.node_id) for node in changed for folded in folded_names(node))
    connection.executemany("INSERT OR IGNORE INTO graph_names VALUES (?, ?)", names)
    return [record for *_, record in rows]


def _put_edges(connection: sqlite3.Connection, given: Sequence[Edge]) -> list[str]:
    """Merge edges with what is stored; return the records that changed. Raises `InvalidInput` without their nodes."""
    ends = {end for each in given for end in (each.from_id, each.to_id)}
    if missing := ends - _nodes(connection, ends).keys():
        raise missing_nodes(missing)
    query = "SELECT record FROM graph_edges WHERE from_id = ? AND type = ? AND to_id = ?"
    found = (connection.execute(query, each).fetchone() for each in {each.key for each in given})
    stored = {edge.key: edge for edge in _decoded(edge_of, (row[0] for row in found if row))}
    every = merged(given, stored, attrgetter("key"), merge_edges)
    rows = [(*key, text_of(edge)) for key, edge in every.items() if edge != stored.get(key)]
    connection.executemany("INSERT OR REPLACE INTO graph_edges VALUES (?, ?, ?, ?)", rows)
    return [record for *_, record in rows]


def _neighbours(connection: sqlite3.Connection, node_id: str, steps: Collection[Step], limit: int) -> Neighbours:
    by_step: dict[tuple[str, bool], list[str]] = {}
    left_out = 0
    for backwards, ends in ((False, ("from_id", "to_id")), (True, ("to_id", "from_id"))):
        if types := {step.edge.value for step in steps if step.backwards == backwards}:
            records, further = _records(connection, ends, node_id, types, limit)
            by_step |= {(type, backwards): of_type for type, of_type in records.items()}
            left_out += further
    ordered = (record for step in sorted(by_step) for record in by_step[step])
    return Neighbours(tuple(_decoded(edge_of, ordered)), left_out)


def _records(
    connection: sqlite3.Connection, ends: tuple[str, str], node_id: str, types: Collection[str], limit: int
) -> tuple[dict[str, list[str]], int]:
    """The records of a node's edges by type, `limit` of each, and how many more there are. `ends` names the columns of
    the node and of its neighbours.

    Most nodes have so few edges that one statement reads them all; those of a hub are read type by type.
    """
    here, there = ends
    edges = f"FROM graph_edges WHERE {here} = ?"
    rows = connection.execute(
        f"SELECT type, record {edges} ORDER BY type, {there} LIMIT ?", (node_id, limit + 1)
    ).fetchall()
    if len(rows) <= limit:
        return {type: [record for each, record in rows if each == type] for type in types}, 0
    records, left_out = {}, 0
    for type in types:
        some = f"SELECT record {edges} AND type = ? ORDER BY {there} LIMIT ?"
        of_type = connection.execute(some, (node_id, type, limit + 1)).fetchall()
        records[type] = [record for (record,) in of_type[:limit]]
        if len(of_type) > limit:
            (count,) = connection.execute(f"SELECT count(*) {edges} AND type = ?", (node_id, type)).fetchone()
            left_out += count - limit
    return records, left_out
