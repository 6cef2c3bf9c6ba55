"""The graph in DynamoDB: what is read of a hub, what two writers leave, and what a killed one does."""

from collections import Counter
from dataclasses import replace

import pytest

from bio_mcp.adapters.aws.graph import DynamoGraph
from bio_mcp.adapters.aws.table import BACKOFF
from bio_mcp.errors import StoreFailed
from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType, Step
from tests.adapters.aws.dying import Killed, killed_after, overtaken

HAS, HAS_BACK = Step(EdgeType.HAS_CONSTITUENT), Step(EdgeType.HAS_CONSTITUENT, backwards=True)
HERB = Node("H1", NodeType.HERB, {"en": "Turmeric", "th": "ขมิ้นชัน"})


def constituents(many):
    return [Node(f"C{n:03}", NodeType.CONSTITUENT, {"en": f"c {n}"}) for n in range(many)]


def edges_to(nodes, source="A database"):
    return [Edge(EdgeType.HAS_CONSTITUENT, "H1", node.node_id, (source,)) for node in nodes]


class Counting:
    def __init__(self, client):
        self._client, self.requests, self.read = client, Counter(), 0
        client.meta.events.register("provide-client-params.dynamodb", self._asked)
        client.meta.events.register("after-call.dynamodb", self._answered)

    def _asked(self, model, **_):
        self.requests[model.name] += 1

    def _answered(self, parsed, **_):
        self.read += len(parsed.get("Items", []))
        self.read += sum(map(len, parsed.get("Responses", {}).values()))

    def close(self):
        self._client.meta.events.unregister("provide-client-params.dynamodb", self._asked)
        self._client.meta.events.unregister("after-call.dynamodb", self._answered)


@pytest.fixture
def counting(ports, closed):
    return closed(Counting(ports.dynamodb))


def test_of_a_hub_no_more_edges_are_read_than_asked_for_and_nothing_is_scanned(ports, counting):
    nodes = constituents(40)
    ports.graph.put([HERB, *nodes], edges_to(nodes))
    counting.requests.clear()
    counting.read = 0
    assert ports.graph.neighbours(["H1"], [HAS, HAS_BACK], 5)["H1"].left_out == 35
    assert counting.read == 1 + 5
    assert ports.graph.named(["turmeric"]) == {"turmeric": [HERB]}
    assert counting.requests == {"BatchGetItem": 2, "Query": 2}


def test_an_edge_of_a_node_to_itself_is_found_from_both_of_its_ends(ports):
    loop = Edge(EdgeType.INTERACTS_WITH, "H1", "H1", ("A database",))
    ports.graph.put([HERB], [loop])
    steps = [Step(EdgeType.INTERACTS_WITH), Step(EdgeType.INTERACTS_WITH, backwards=True)]
    assert ports.graph.neighbours(["H1"], steps, 5)["H1"].edges == (loop, loop)
    assert ports.graph.count() == {"herb": 1, "interacts_with": 1}


def test_no_edges_are_read_where_none_is_asked_for(ports):
    nodes = constituents(2)
    ports.graph.put([HERB, *nodes], edges_to(nodes))
    found = ports.graph.neighbours(["H1"], [HAS], 0)["H1"]
    assert (found.edges, found.left_out) == ((), 2)


@pytest.mark.parametrize("after", range(5))
def test_a_write_that_was_killed_anywhere_is_whole_after_the_next_and_counted_once(ports, after):
    nodes = constituents(40)
    client = killed_after(ports.dynamodb, after, "batch_write_item", "transact_write_items")
    with pytest.raises(Killed):
        DynamoGraph(client, ports.graph._table.name).put([HERB, *nodes], edges_to(nodes))
    for node_id, found in ports.graph.neighbours(["C000", "H1"], [HAS, HAS_BACK], 99).items():
        assert {each.from_id for each in found.edges} == {"H1"}, node_id  # no edge without its nodes
    for _ in range(2):
        ports.graph.put([HERB, *nodes], edges_to(nodes))
    assert ports.graph.count() == {"herb": 1, "constituent": 40, "has_constituent": 40}
    assert len(ports.graph.neighbours(["H1"], [HAS], 99)["H1"].edges) == 40
    assert ports.graph.neighbours(["H1"], [HAS], 39)["H1"].left_out == 1
    assert ports.graph.named(["c 39", "ขมิ้นชัน"]) == {"c 39": [nodes[39]], "ขมิ้นชัน": [HERB]}


def test_a_name_whose_node_was_never_written_finds_nothing(ports):
    client = killed_after(ports.dynamodb, 0, "transact_write_items")
    with pytest.raises(Killed):
        DynamoGraph(client, ports.graph._table.name).put([replace(HERB, synonyms=("Haldi",))], [])
    assert ports.graph.named(["haldi"]) == {}
    ports.graph.put([HERB], [])
    assert ports.graph.named(["haldi", "turmeric"]) == {"turmeric": [HERB]}


def test_what_another_writes_at_the_same_time_is_merged_and_counted_once(ports):
    [node] = nodes = constituents(1)
    ports.graph.put([HERB, node], [])
    client = overtaken(ports.dynamodb, lambda: ports.graph.put([], edges_to(nodes, "Another")))
    backoff = replace(BACKOFF, sleep=lambda _: None)
    DynamoGraph(client, ports.graph._table.name, backoff=backoff).put([], edges_to(nodes))
    [edge] = ports.graph.neighbours(["H1"], [HAS], 5)["H1"].edges
    assert edge.sources == ("Another", "A database")
    assert ports.graph.count() == {"herb": 1, "constituent": 1, "has_constituent": 1}


def test_an_edge_with_more_evidence_than_an_item_holds_is_refused_in_words(ports):
    [node] = nodes = constituents(1)
    ports.graph.put([HERB, node], edges_to(nodes))
    long = [replace(each, evidence=(Evidence("1", "x" * 500_000),)) for each in edges_to(nodes)]
    with pytest.raises(StoreFailed, match="too large for the store of the graph") as failed:
        ports.graph.put([], long)
    assert not failed.value.retryable
    assert ports.graph.neighbours(["H1"], [HAS], 5)["H1"].edges == tuple(edges_to(nodes))


def test_names_longer_than_a_key_are_names_all_the_same(ports):
    long = replace(HERB, synonyms=("ü" * 3_000,))
    ports.graph.put([long], [])
    assert ports.graph.named(["u" * 3_000]) == {"u" * 3_000: [long]}
