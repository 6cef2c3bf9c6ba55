"""The page Graph: a herb, constituent, indication or drug with all that is documented of it, drawn and as a table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from html import escape
from typing import Any

from bio_mcp.answering.graph_questions import ByConstituent, Relation, by_constituent, candidates_of, relations
from bio_mcp.answering.project_search import flagged
from bio_mcp.deadline import Deadline
from bio_mcp.doors.console.console import CONSOLE, Shown
from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating.page import svg
from bio_mcp.graph.nodes import Edge, EdgeType, Node, NodeType, Step, fold_name
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Graph
from bio_mcp.retrieval.excerpts import cut
from bio_mcp.tool import MAX_TEXT, Context, resource
from bio_mcp.tools.kg import pmids_of

MOST_NEAR = 8  # names that are nearly written so
MOST_CHOICES = 20  # nodes of one name
MOST_DRAWN = 12  # nodes of a column
SAFETY = frozenset({EdgeType.CONTRAINDICATED_WITH, EdgeType.INTERACTS_WITH})
WORDS = {  # of an edge, read from the node that is asked about, and against its direction
    EdgeType.HAS_CONSTITUENT: ("has the constituent", "is a constituent of"),
    EdgeType.TREATS: ("is used for", "is what is used"),
    EdgeType.CONTAINS: ("contains", "is contained in"),
    EdgeType.CONTRAINDICATED_WITH: ("is contraindicated with", "is a contraindication of"),
    EdgeType.INTERACTS_WITH: ("interacts with", "interacts with"),
    EdgeType.ACTS_ON: ("acts on", "is acted on by"),
}
TITLES = {
    NodeType.FORMULATION: "Formulation",
    NodeType.HERB: "Herb",
    NodeType.CONSTITUENT: "Constituent",
    NodeType.INDICATION: "Use",
    NodeType.DRUG: "Drug",
    NodeType.CONTRAINDICATION: "Contraindication",
}  # of the columns in which nodes are drawn, but for those that a constituent acts on
COLUMNS = ("Formulation", "Herb", "Constituent", "Action", "Use", "Drug", "Contraindication")


@resource("console://graph/{name}", name="graph page", family=CONSOLE, scope="read", timeout=10)
def graph_page(backends: Backends, name: str, context: Context) -> Shown:
    """What the graph has of the node with this id or name; the nodes of several; what is nearly written so of none."""
    if not fold_name(name) or len(name) > MAX_TEXT:
        raise InvalidInput("give a name with a letter or digit")
    nodes = candidates_of(name, backends.graph)
    if len(nodes) != 1:
        choices = [_choice(each, backends, context.deadline) for each in nodes[:MOST_CHOICES]]
        near = [] if nodes else _near(name, backends, context.deadline)
        return Shown(name=name, choices=choices, near=near, node=None)
    [node] = nodes
    around, left_out = relations(node, backends.graph)
    reaching, unread = by_constituent([each for each in around if each.edge.type in SAFETY], backends.graph)
    drawing, actions = drawn(node, around, reaching, backends.graph)
    cited = [*around, *actions, *(each.herb for each in reaching)]
    doubts = flagged({pmid for each in cited for pmid in pmids_of(each.edge)}, backends)
    constituents = drawing.columns["Constituent"]
    acting = [
        {"of": {"id": each.edge.from_id, "label": constituents[each.edge.from_id]}, **_row(each, doubts)}
        for each in actions
    ]
    return Shown(
        name=name,
        node={"type": node.type, "label": node.label, "names": _names(node), "description": node.description},
        safety=[_row(each, doubts) for each in around if each.edge.type in SAFETY],
        reaching=[_reaching(each, doubts) for each in reaching],
        others=[_choice(each, backends, context.deadline) for each in _namesakes(node, backends)],
        rows=[_row(each, doubts) for each in around if each.edge.type not in SAFETY] + acting,
        left_out=left_out + unread,
        drawing=drawing.svg(node.node_id, f"What is documented of {node.label}"),
        undrawn=drawing.left_out,
        doubts=list(doubts.values()),
    )


def _choice(node: Node, backends: Backends, deadline: Deadline) -> dict[str, Any]:
    """A node of several, with what there is of it."""
    deadline.check("looking up what each has")
    around, left_out = relations(node, backends.graph)
    counted = Counter(each.node.type for each in around)
    return {
        "id": node.node_id,
        "type": node.type,
        "label": node.label,
        "names": _names(node),
        "edges": len(around) + left_out,
        "has": [f"{count:,} {kind}{'' if count == 1 else 's'}" for kind, count in counted.items()],
    }


def _names(node: Node) -> list[str]:
    """What the node is called beside its label."""
    return [each for each in dict.fromkeys([*node.names.values(), *node.synonyms]) if each != node.label]


def _namesakes(node: Node, backends: Backends) -> list[Node]:
    """Other nodes that have one of its names."""
    found = backends.graph.named([node.label, *_names(node)])
    others = {each.node_id: each for nodes in found.values() for each in nodes if each.node_id != node.node_id}
    return [others[each] for each in sorted(others)][:MOST_CHOICES]


def _near(name: str, backends: Backends, deadline: Deadline) -> list[str]:
    """Names of the graph that are nearly written so, as they are written there."""
    written: dict[str, str] = {}
    for each, _ in backends.graph.names():
        deadline.check("looking for names that are near")
        written.setdefault(fold_name(each), each)
    return [written[each] for each in get_close_matches(fold_name(name), written, MOST_NEAR, 0.6)]


def _row(found: Relation, doubts: Mapping[str, str]) -> dict[str, Any]:
    return {
        "words": WORDS[found.edge.type][found.backwards],
        "id": found.node.node_id,
        "type": found.node.type,
        "label": found.node.label,
        **_stated_by([found.edge], doubts),
    }


def _reaching(found: ByConstituent, doubts: Mapping[str, str]) -> dict[str, Any]:
    """A herb that reaches the node by way of a constituent, with what states either step."""
    return {
        "herb": {"id": found.herb.node.node_id, "label": found.herb.node.label},
        "constituent": {"id": found.stated.node.node_id, "label": found.stated.node.label},
        "words": WORDS[found.stated.edge.type][not found.stated.backwards],
        **_stated_by([found.herb.edge, found.stated.edge], doubts),
    }


def _stated_by(edges: Sequence[Edge], doubts: Mapping[str, str]) -> dict[str, Any]:
    """Sources, papers and quotes of the edges, each once."""
    pmids = dict.fromkeys(pmid for each in edges for pmid in pmids_of(each))
    quotes = [evidence.quote for each in edges for evidence in each.evidence if evidence.quote]
    return {
        "sources": list(dict.fromkeys(source for each in edges for source in each.sources)),
        "papers": [{"pmid": pmid, "doubtful": pmid in doubts} for pmid in pmids],
        "quotes": list(dict.fromkeys(quotes)),
    }


WIDTH, GAP, ROW, TOP = 250, 40, 24, 34  # pixels: a column, between two of them, a row, above the first row
ROOM = 28  # characters of a label


@dataclass(slots=True)
class Drawing:
    """Nodes in columns, by title and id with their labels, and the edges between them. `left_out`: edges that had no
    room."""

    columns: dict[str, dict[str, str]]
    edges: list[Edge] = field(default_factory=list)
    left_out: int = 0

    def add(self, found: Relation) -> bool:
        """Draw an edge, and its node in the node's column; False where there is no room, or the edge leads nowhere."""
        edge, node = found.edge, found.node
        near = self._column(edge.to_id if found.backwards else edge.from_id)
        acts = edge.type is EdgeType.ACTS_ON and not found.backwards
        placed = self._column(node.node_id)
        title = placed or ("Action" if acts else TITLES[node.type])
        if title == near and not placed:
            title = f"Other {title.lower()}"
        column = self.columns.setdefault(title, {})
        if title == near or not near or (not placed and len(column) == MOST_DRAWN):
            self.left_out += 1
            return False
        column[node.node_id] = node.label
        self.edges.append(edge)
        return True

    def _column(self, node_id: str) -> str:
        """The title of the column that a node is in; "" for one that is not drawn."""
        return next((title for title, column in self.columns.items() if node_id in column), "")

    def svg(self, node_id: str, title: str) -> str:
        """The drawing, in which one node stands out; "" without an edge."""
        columns = {title: nodes for title, nodes in self.columns.items() if nodes}
        labels = {each: label for nodes in columns.values() for each, label in nodes.items()}
        at = {
            each: (WIDTH * column, TOP + ROW * row + ROW // 2)
            for column, nodes in enumerate(columns.values())
            for row, each in enumerate(nodes)
        }
        parts = []
        for edge in dict.fromkeys(self.edges):
            (x, y), (end, to_y) = sorted((at[edge.from_id], at[edge.to_id]))
            start = x + WIDTH - GAP
            stated = f"{labels[edge.from_id]} {WORDS[edge.type][0]} {labels[edge.to_id]}: {'; '.join(edge.sources)}"
            curve = f"M{start} {y}C{start + 20} {y} {end - 20} {to_y} {end} {to_y}"
            parts.append(f'<path class="edge" d="{curve}"><title>{escape(stated)}</title></path>')
        parts += [
            f'<text class="muted" x="{WIDTH * column + 6}" y="18">{name}</text>' for column, name in enumerate(columns)
        ]
        for each, (x, y) in at.items():
            kind = "node own" if each == node_id else "node"
            parts.append(f'<rect class="{kind}" x="{x}" y="{y - 10}" width="{WIDTH - GAP}" height="20" rx="4"/>')
            parts.append(f'<text class="{kind}" x="{x + 6}" y="{y + 4}">{escape(cut(labels[each], ROOM))}</text>')
        names = "; ".join(f"{name}: {', '.join(nodes.values())}" for name, nodes in columns.items())
        height = TOP + ROW * max(map(len, columns.values())) + 8
        return svg("graph", title, names, parts, WIDTH * len(columns), height) if self.edges else ""


def drawn(
    node: Node, around: Sequence[Relation], reaching: Sequence[ByConstituent], graph: Graph
) -> tuple[Drawing, list[Relation]]:
    """The node and its neighbours in columns, with what the constituents among them act on, and those statements.

    Contraindications and interactions are drawn of a drug and of a contraindication, which have no other edges.
    """
    activity = any(each.edge.type is EdgeType.ACTS_ON and each.backwards for each in around)
    own = "Action" if activity else TITLES[node.type]
    drawing = Drawing({title: {} for title in COLUMNS})
    drawing.columns[own][node.node_id] = node.label
    for each in around:
        if each.edge.type not in SAFETY or node.type in (NodeType.DRUG, NodeType.CONTRAINDICATION):
            drawing.add(each)
    for by in reaching:
        drawing.add(by.herb)
    constituents = [each for each in drawing.columns["Constituent"] if each != node.node_id and not activity]
    found = graph.neighbours(constituents, [Step(EdgeType.ACTS_ON)], MOST_DRAWN) if constituents else {}
    edges = [edge for each in found.values() for edge in each.edges]
    nodes = graph.nodes(sorted({each.to_id for each in edges}))
    actions = [Relation(each, nodes[each.to_id], False) for each in edges]
    return drawing, [each for each in actions if drawing.add(each)]
