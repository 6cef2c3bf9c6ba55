"""The page Graph: a herb, constituent, indication or drug with all that is documented of it, drawn and as a table."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
CONSTITUENT, ACTION, HERB_WITH_IT = "Constituent", "Action", "Herb that has it"
TITLES = {
    NodeType.FORMULATION: "Formulation",
    NodeType.HERB: "Herb",
    NodeType.CONSTITUENT: CONSTITUENT,
    EdgeType.ACTS_ON: ACTION,
    NodeType.INDICATION: "Use",
    NodeType.DRUG: "Drug",
    NodeType.CONTRAINDICATION: "Contraindication",
}  # of groups of nodes in the drawing, from left to right


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
    drawing, actions, undrawn = draw(node, around, reaching, backends.graph)
    cited = [*around, *actions, *(each.herb for each in reaching)]
    doubts = flagged({pmid for each in cited for pmid in each.edge.pmids}, backends)
    labels = {each.node.node_id: each.node.label for each in around}
    acting = [
        {"of": {"id": each.edge.from_id, "label": labels[each.edge.from_id]}, **_row(each, doubts)} for each in actions
    ]
    return Shown(
        name=name,
        node={"type": node.type, "label": node.label, "names": _names(node), "description": node.description},
        safety=[_row(each, doubts) for each in around if each.edge.type in SAFETY],
        reaching=[_reaching(each, doubts) for each in reaching],
        others=[_choice(each, backends, context.deadline) for each in _namesakes(node, backends)],
        rows=[_row(each, doubts) for each in around if each.edge.type not in SAFETY] + acting,
        left_out=left_out + unread,
        drawing=drawing,
        undrawn=undrawn,
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
    pmids = dict.fromkeys(pmid for each in edges for pmid in each.pmids)
    quotes = [evidence.quote for each in edges for evidence in each.evidence if evidence.quote]
    return {
        "sources": list(dict.fromkeys(source for each in edges for source in each.sources)),
        "papers": [{"pmid": pmid, "doubtful": pmid in doubts} for pmid in pmids],
        "quotes": list(dict.fromkeys(quotes)),
    }


WIDTH, GAP, ROW = 270, 66, 24  # pixels: a column, between two of them, a row
ROOM = 28  # characters of a label

Place = tuple[str, str]
"""The title of a group of nodes, and the id of one of them."""


@dataclass(slots=True)
class Drawing:
    """Nodes by place, with their labels, and edges, each with the places of its ends. `left_out`: edges that had no
    room."""

    nodes: dict[Place, str]
    edges: list[tuple[Place, Place, Edge]] = field(default_factory=list)
    left_out: int = 0

    def add(self, found: Relation, beginning: str, title: str) -> bool:
        """Draw an edge from a node of the group `beginning`, and the node at its other end in the group `title`; False
        without room for it."""
        end = found.edge.to_id if found.backwards else found.edge.from_id
        one, other = (beginning, end), (title, found.node.node_id)
        full = sum(each == title for each, _ in self.nodes) == MOST_DRAWN
        if one not in self.nodes or (full and other not in self.nodes):
            self.left_out += 1
            return False
        self.nodes[other] = found.node.label
        self.edges.append((one, other, found.edge))
        return True

    def svg(self, node: Node, columns: Iterable[Sequence[str]]) -> str:
        """The drawing, in columns of groups one below another, in which the node stands out; "" without an edge."""
        at, parts, described = dict[Place, tuple[int, int]](), list[str](), list[str]()
        x, height = 1, 0
        for titles in columns:
            y = ROW // 2 + 2
            for title in titles:
                if not (group := [each for each in self.nodes if each[0] == title]):
                    continue
                parts.append(f'<text class="muted" x="{x + 6}" y="{y + 4}">{title}</text>')
                described.append(f"{title}: {', '.join(self.nodes[each] for each in group)}")
                at |= {each: (x, y + ROW * row) for row, each in enumerate(group, 1)}
                y += ROW * (len(group) + 1)
            height, x = max(height, y), x + WIDTH * (y > ROW)
        for one, other, edge in dict.fromkeys(self.edges):
            (left, y), (end, to_y) = sorted((at[one], at[other]))
            start = left + WIDTH - GAP
            words, backwards = WORDS[edge.type], edge.from_id != one[1]
            stated = f"{self.nodes[one]} {words[backwards]} {self.nodes[other]}: {'; '.join(edge.sources)}"
            curve = f"M{start} {y}C{start + GAP // 2} {y} {end - GAP // 2} {to_y} {end} {to_y}"
            parts.append(f'<path class="edge" d="{curve}"><title>{escape(stated)}</title></path>')
        for place, (x_of, y) in at.items():
            kind = "node own" if place[1] == node.node_id else "node"
            label = escape(cut(self.nodes[place], ROOM))
            parts.append(f'<rect class="{kind}" x="{x_of}" y="{y - 10}" width="{WIDTH - GAP}" height="20" rx="4"/>')
            parts.append(f'<text class="{kind}" x="{x_of + 6}" y="{y + 4}">{label}</text>')
        title = f"What is documented of {node.label}"
        return svg("graph", title, "; ".join(described), parts, x, height) if self.edges else ""


def draw(
    node: Node, around: Sequence[Relation], reaching: Sequence[ByConstituent], graph: Graph
) -> tuple[str, list[Relation], int]:
    """The node and its neighbours in columns, with what the constituents among them act on; those statements; and how
    many had no room.

    Contraindications and interactions are drawn of a drug and of a contraindication, beside which stands all that
    they are of, and then the herbs that have such a constituent.
    """
    own = TITLES[node.type]
    if node.type is NodeType.INDICATION and any(each.edge.type is EdgeType.ACTS_ON for each in around):
        own = ACTION
    titles = (*TITLES.values(), f"Other {own.lower()}")
    drawing = Drawing({(own, node.node_id): node.label})
    columns = [[each] for each in titles]
    if node.type in (NodeType.DRUG, NodeType.CONTRAINDICATION):
        columns = [[own], [each for each in titles if each not in (own, ACTION)], [HERB_WITH_IT, ACTION]]
        stated = around
    else:
        stated, reaching = [each for each in around if each.edge.type not in SAFETY], ()
    for each in stated:
        acts = each.edge.type is EdgeType.ACTS_ON and not each.backwards
        title = ACTION if acts else TITLES[each.node.type]
        drawing.add(each, own, titles[-1] if title == own else title)
    for by in reaching:
        drawing.add(by.herb, CONSTITUENT, HERB_WITH_IT)
    actions = [] if own in (CONSTITUENT, ACTION) else _actions(drawing, graph)
    shown = [each for each in actions if drawing.add(each, CONSTITUENT, ACTION)]
    return drawing.svg(node, columns), shown, drawing.left_out


def _actions(drawing: Drawing, graph: Graph) -> list[Relation]:
    """What the constituents that are drawn act on."""
    constituents = [each for title, each in drawing.nodes if title == CONSTITUENT]
    found = graph.neighbours(constituents, [Step(EdgeType.ACTS_ON)], MOST_DRAWN) if constituents else {}
    edges = [edge for each in found.values() for edge in each.edges]
    nodes = graph.nodes(sorted({each.to_id for each in edges}))
    return [Relation(each, nodes[each.to_id], False) for each in edges]
