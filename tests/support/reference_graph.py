"""A graph in dictionaries: the plain reading of the port's contract, to test with and compare against."""

from collections import Counter

from bio_mcp.adapters.stored import missing_nodes
from bio_mcp.graph.nodes import Neighbours, fold_name, folded_names, merge_edges, merge_nodes, names_of


class ReferenceGraph:
    """Nodes and edges in dictionaries; every question looks at all of them."""

    def __init__(self, *content):
        self._nodes, self._edges, self._revision = {}, {}, 0
        self.put(
            [each for each in content if hasattr(each, "node_id")], [each for each in content if hasattr(each, "key")]
        )

    def put(self, nodes, edges):
        merged_nodes, merged_edges = dict(self._nodes), dict(self._edges)
        for each in nodes:
            merged_nodes[each.node_id] = merge_nodes(merged_nodes.get(each.node_id), each)
        if missing := {end for each in edges for end in (each.from_id, each.to_id)} - merged_nodes.keys():
            raise missing_nodes(missing)
        for each in edges:
            merged_edges[each.key] = merge_edges(merged_edges.get(each.key), each)
        self._revision += (merged_nodes, merged_edges) != (self._nodes, self._edges)
        self._nodes, self._edges = merged_nodes, merged_edges

    def nodes(self, node_ids):
        return {each: self._nodes[each] for each in node_ids if each in self._nodes}

    def neighbours(self, node_ids, steps, limit):
        found = {each: self._at(each, steps, limit) for each in node_ids}
        return {each: at for each, at in found.items() if at.edges or at.left_out}

    def _at(self, node_id, steps, limit):
        edges, left_out = [], 0
        for step in sorted(set(steps), key=lambda step: (step.edge.value, step.backwards)):
            here, there = ("to_id", "from_id") if step.backwards else ("from_id", "to_id")
            fitting = [e for e in self._edges.values() if e.type == step.edge and getattr(e, here) == node_id]
            fitting.sort(key=lambda edge: getattr(edge, there))
            edges += fitting[:limit]
            left_out += len(fitting[limit:])
        return Neighbours(tuple(edges), left_out)

    def named(self, names):
        found = {name: [n for n in self._sorted() if fold_name(name) in folded_names(n)] for name in names}
        return {name: nodes for name, nodes in found.items() if nodes}

    def names(self):
        yield from ((name, node) for node in self._sorted() for name in names_of(node))

    def revision(self):
        return str(self._revision or "")

    def count(self):
        return Counter(each.type.value for each in (*self._nodes.values(), *self._edges.values()))

    def _sorted(self):
        return [self._nodes[each] for each in sorted(self._nodes)]
