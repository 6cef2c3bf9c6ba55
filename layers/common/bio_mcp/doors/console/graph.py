"""The page Graph: a herb, constituent, indication or drug with all that is documented of it, drawn and as a table."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from bio_mcp.retrieval.excerpts import cut
from bio_mcp.tool import MAX_TEXT, Context, resource
from bio_mcp.tools.kg import pmids_of

MOST_NEAR = 8  # names that are nearly written so
MOST_CHOICES = 20  # nodes of one name
MOST_DRAWN = 12  # nodes of a column
MOST_ACTIONS = 40  # of each constituent
SAFETY = frozenset({EdgeType.CONTRAINDICATED_WITH, EdgeType.INTERACTS_WITH})
WORDS = {  # of an edge, read from the node that is asked about, and against its direction
    EdgeType.HAS_CONSTITUENT: ("has the constituent", "is a constituent of"),
    EdgeType.TREATS: ("is used for", "is what is used"),
    EdgeType.CONTAINS: ("contains", "is contained in"),
    EdgeType.CONTRAINDICATED_WITH: ("is contraindicated with", "is a contraindication of"),
    EdgeType.INTERACTS_WITH: ("interacts with", "interacts with"),
    EdgeType.ACTS_ON: ("acts on", "is acted on by"),
}
COLUMNS = ("Herb", "Constituent", "Action", "Use")
PLACES = {NodeType.HERB: 0, NodeType.FORMULATION: 0, NodeType.CONSTITUENT: 1}


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
    actions = _actions(around, backends)
    reaching, unread = by_constituent([each for each in around if each.edge.type in SAFETY], backends.graph)
    cited = [*around, *actions, *(each.herb for each in reaching)]
    doubts = flagged({pmid for each in cited for pmid in pmids_of(each.edge)}, backends)
    rows = [_row(each, doubts) for each in around]
    return Shown(
        name=name,
        node={
            "id": node.node_id,
            "type": node.type,
            "label": node.label,
            "names": node.names,
            "synonyms": node.synonyms,
        }
        | {"description": node.description, "parts": node.parts, "sources": node.sources},
        safety=[each for each, of in zip(rows, around, strict=True) if of.edge.type in SAFETY],
        reaching=[_reaching(each, doubts) for each in reaching],
        others=[_choice(each, backends, context.deadline) for each in _namesakes(node, backends)],
        rows=[each for each, of in zip(rows, around, strict=True) if of.edge.type not in SAFETY],
        left_out=left_out + unread,
        drawing=drawn(node, around, actions),
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


def _actions(around: Sequence[Relation], backends: Backends) -> list[Relation]:
    """What the constituents among the neighbours act on."""
    constituents = [
        each.node.node_id for each in around if each.edge.type is EdgeType.HAS_CONSTITUENT and not each.backwards
    ]
    found = backends.graph.neighbours(constituents, [Step(EdgeType.ACTS_ON)], MOST_ACTIONS) if constituents else {}
    edges = [edge for each in found.values() for edge in each.edges]
    nodes = backends.graph.nodes(sorted({each.to_id for each in edges}))
    return [Relation(each, nodes[each.to_id], False) for each in edges]


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


WIDTH, ROW, TOP, GAP = 1_000, 24, 34, 40  # of the drawing, a row, what is above the first, between two columns
ROOM = 26  # characters of a label


@dataclass(frozen=True, slots=True)
class Line:
    """An edge of the drawing, from a node to another one, each by its id."""

    one: str
    other: str


def drawn(node: Node, around: Sequence[Relation], actions: Sequence[Relation]) -> str:
    """The node and its neighbours in the columns herb, constituent, action, use, as SVG; "" without any to draw."""
    placed: list[dict[str, str]] = [{} for _ in COLUMNS]
    own = PLACES.get(node.type, 3)
    placed[own][node.node_id] = node.label
    lines: list[Line] = []
    for each in around:
        if each.edge.type not in SAFETY and _put(placed, each, own):
            lines.append(Line(node.node_id, each.node.node_id))
    for each in actions:
        if each.edge.from_id in placed[1] and _fits(placed[2], each.node):
            lines.append(Line(each.edge.from_id, each.node.node_id))
    if not lines:
        return ""
    return _svg(node, placed, dict.fromkeys(lines))


def _put(placed: list[dict[str, str]], found: Relation, own: int) -> bool:
    place = PLACES.get(found.node.type, 2 if found.edge.type is EdgeType.ACTS_ON else 3)
    return place != own and _fits(placed[place], found.node)


def _fits(column: dict[str, str], node: Node) -> bool:
    if node.node_id not in column and len(column) < MOST_DRAWN:
        column[node.node_id] = node.label
    return node.node_id in column


def _svg(node: Node, placed: Sequence[Mapping[str, str]], lines: Iterable[Line]) -> str:
    width = WIDTH / len(COLUMNS)
    height = TOP + ROW * max(map(len, placed)) + 8
    at = {
        node_id: (width * column, TOP + ROW * row + ROW / 2)
        for column, nodes in enumerate(placed)
        for row, node_id in enumerate(nodes)
    }
    parts = []
    for line in lines:
        (x, y), (end, to_y) = sorted((at[line.one], at[line.other]))
        start = x + width - GAP
        curve = f"M{start:.0f} {y:.0f}C{start + 20:.0f} {y:.0f} {end - 20:.0f} {to_y:.0f} {end:.0f} {to_y:.0f}"
        parts.append(f'<path class="edge" d="{curve}"/>')
    for column, name in enumerate(COLUMNS):
        if placed[column]:
            parts.append(f'<text class="muted" x="{width * column + 6:.0f}" y="18">{name}</text>')
    for column, nodes in enumerate(placed):
        for node_id, label in nodes.items():
            x, y = at[node_id]
            kind = "node own" if node_id == node.node_id else f"node column-{column}"
            parts.append(
                f'<rect class="{kind}" x="{x:.0f}" y="{y - 10:.0f}" width="{width - GAP:.0f}" height="20" rx="4"/>'
            )
            parts.append(f'<text class="{kind}" x="{x + 6:.0f}" y="{y + 4:.0f}">{escape(cut(label, ROOM))}</text>')
    names = "; ".join(
        f"{name}: {', '.join(nodes.values())}" for name, nodes in zip(COLUMNS, placed, strict=True) if nodes
    )
    return svg("graph", f"What is documented of {node.label}", names, parts, WIDTH, int(height))
