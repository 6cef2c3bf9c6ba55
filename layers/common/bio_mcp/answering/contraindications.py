"""What is documented against herbs and formulations, and how strong the evidence is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from bio_mcp.graph.nodes import BOTH_WAYS, NODE_ID, Edge, EdgeType, Node, NodeType, Step, without_documents
from bio_mcp.literature.quality import best_design, human, year
from bio_mcp.literature.records import Document, RetractionStatus
from bio_mcp.ports.stores import Documents, Graph
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.quotes import comparable, trimmed

NOT_EVIDENCE = (RetractionStatus.RETRACTED, RetractionStatus.NOTICE)
_STATES = {
    RetractionStatus.CONCERN: "expression of concern",
    RetractionStatus.RETRACTED: "retracted",
    RetractionStatus.NOTICE: "a retraction notice",
}
_REVIEW, _RANDOMIZED, _OBSERVED = 3, 2, 1  # points of quality's designs
_ANIMALS = 1  # quality's points


class Strength(IntEnum):
    """The contract's words, in capitals, in order."""

    LOW = 0
    MODERATE = 1
    HIGH = 2


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper that is cited. `design` is in quality's points, None where unknown; `name` says which design it is.

    `retraction` is None for a paper that the corpus does not have, of which nothing is known.
    """

    pmid: str
    title: str | None = None
    year: int | None = None
    design: int | None = None
    name: str = "design unknown"
    retraction: RetractionStatus | None = None

    @property
    def counts(self) -> bool:
        """Whether it is evidence at all."""
        return self.retraction not in NOT_EVIDENCE

    @property
    def summary(self) -> str:
        """The paper in a few words: `PMID 1 (2019, randomized controlled trial)`."""
        if self.retraction is None:
            return f"PMID {self.pmid} (not in the corpus, so its design and retraction state are unknown)"
        known = [str(self.year) if self.year else "", self.name, _STATES.get(self.retraction, "")]
        return f"PMID {self.pmid} ({', '.join(filter(None, known))})"


def paper_of(pmid: str, document: Document | None) -> Paper:
    """What the corpus knows of a paper. One of animals only is preclinical, whatever its design."""
    if document is None:
        return Paper(pmid)
    article = document.article
    points, name = best_design(article) or (None, "design unknown")
    if points and human(article) == _ANIMALS:
        points, name = 0, f"{name} of animals"
    return Paper(pmid, article.title, year(article), points, name, article.retraction)


@dataclass(frozen=True, slots=True)
class Graded:
    """A strength and the sentences by which it is derived."""

    strength: Strength
    derivation: tuple[str, ...]


def grade(papers: Sequence[Paper], *, by_rule: bool = False, about: str | None = None) -> Graded:
    """Derive the strength of a statement that cites `papers`.

    `by_rule`: no person has read it out of its document; then it is moderate at most. `about` names what the papers are
    about where that is only a part of what is asked, as a constituent of a herb; then it is one step lower.
    """
    strength, why = _by_design([each for each in papers if each.counts])
    sentences = [why, *(f"{each.summary} does not count" for each in papers if not each.counts)]
    if strength and by_rule and strength > Strength.MODERATE:
        strength = Strength.MODERATE
        sentences.append("moderate at most: it was read out of a document by rule, and by no person")
    if about and strength:
        strength = Strength(strength - 1)
        sentences.append(f"one step lower: it is about {about}")
    return Graded(strength, tuple(sentences))


def _by_design(papers: Sequence[Paper]) -> tuple[Strength, str]:
    """The strength by design and number, and the papers that make it."""
    if not papers:
        return Strength.LOW, "low: no paper that counts is cited"
    points = {each.pmid: 0 if each.retraction is RetractionStatus.CONCERN else each.design or 0 for each in papers}
    for least, number, strength, why in (
        (_REVIEW, 1, Strength.HIGH, "high by"),
        (_RANDOMIZED, 2, Strength.HIGH, "high by two or more randomized trials:"),
        (_RANDOMIZED, 1, Strength.MODERATE, "moderate by one randomized trial:"),
        (_OBSERVED, 2, Strength.MODERATE, "moderate by two or more studies of humans:"),
    ):
        fitting = [each.summary for each in papers if points[each.pmid] >= least]
        if len(fitting) >= number:
            return strength, f"{why} {'; '.join(fitting)}"
    return Strength.LOW, f"low: no more than {'; '.join(each.summary for each in papers)}"


AGAINST = [each for each in BOTH_WAYS if each.edge in (EdgeType.CONTRAINDICATED_WITH, EdgeType.INTERACTS_WITH)]
EDGES = 200  # of a kind at a node, that are read
DEPTH = 3  # of formulations within formulations
CANDIDATES = 5  # that are named for an unknown id


class Status(StrEnum):
    """What is known of an entity. None of them says that it may be taken."""

    DOCUMENTED = "documented"
    NOTHING_DOCUMENTED = "nothing_documented"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Part:
    """The entity itself (`distance` 0), a node that it contains (1), or a constituent of one of those (2)."""

    node: Node
    distance: int = 0
    constituent_of: Node | None = None

    @property
    def phrase(self) -> str:
        """How the part belongs to the entity; "" for the entity itself."""
        if self.constituent_of:
            return f"{self.node.label}, a constituent of {self.constituent_of.label}"
        return f"{self.node.label}, which it contains" if self.distance else ""


@dataclass(frozen=True, slots=True)
class Finding:
    """An edge against the entity, by one of its parts. `other` is what must not come together with it.

    `inside`: the other is a part of the same entity. `papers` are those that the edge cites, in its order, and
    `elsewhere` the quotes that stand neither in the title nor in the abstract that the corpus has of their paper.
    """

    part: Part
    edge: Edge
    other: Node
    inside: bool
    papers: tuple[Paper, ...]
    graded: Graded
    elsewhere: frozenset[str]


@dataclass(frozen=True, slots=True)
class Checked:
    """An entity that was asked for, by `asked`. `sources` are those that say anything of it, or of its parts.

    `candidates` are nodes that an unknown id may mean. `left_out` counts edges that were not read.
    """

    asked: str
    type: NodeType
    status: Status
    node: Node | None = None
    findings: tuple[Finding, ...] = ()
    sources: tuple[str, ...] = ()
    candidates: tuple[Node, ...] = ()
    left_out: int = 0


def contraindications_of(asked: Sequence[tuple[NodeType, str]], graph: Graph, documents: Documents) -> list[Checked]:
    """Check each entity, given by its type and by its id or a name that no other of its type has.

    `documents` say what became of the papers that the graph cites.
    """
    ids = list(dict.fromkeys(each for _, each in asked))
    nodes = graph.nodes([each for each in ids if NODE_ID.fullmatch(each)])
    named = graph.named([each for each in ids if each.strip() and each not in nodes])
    checked = []
    for type, name in dict.fromkeys(asked):
        found = [nodes[name]] if name in nodes else [*named.get(name, ())]
        fitting = [each for each in found if each.type == type]
        if len(fitting) == 1:
            checked.append(_checked(name, fitting[0], graph, documents))
        else:
            checked.append(Checked(name, type, Status.UNKNOWN, candidates=tuple((fitting or found)[:CANDIDATES])))
    return checked


def _checked(asked: str, node: Node, graph: Graph, documents: Documents) -> Checked:
    parts = _Parts(graph, node)
    at = graph.neighbours(list(parts.by_id), AGAINST, EDGES)
    edges = {edge.key: edge for each in at.values() for edge in each.edges}
    others = graph.nodes([end for edge in edges.values() for end in (edge.from_id, edge.to_id)])
    pmids = [each.pmid for edge in edges.values() for each in edge.evidence if each.pmid]
    known = documents.get_many(sorted(set(pmids))) if pmids else {}
    papers = {pmid: paper_of(pmid, known.get(pmid)) for pmid in pmids}
    findings = [_finding(parts, edge, others, papers, _elsewhere(edge, known)) for edge in edges.values()]
    # the strongest first, then what is of the entity itself, then by kind and name
    findings.sort(key=lambda each: (-each.graded.strength, each.part.distance, each.edge.type.value, each.edge.key))
    sources = {source for each in (*edges.values(), *parts.edges) for source in each.sources} | {*node.sources}
    left_out = parts.left_out + sum(each.left_out for each in at.values())
    status = Status.DOCUMENTED if findings else Status.NOTHING_DOCUMENTED
    return Checked(asked, node.type, status, node, tuple(findings), tuple(sorted(sources)), left_out=left_out)


class _Parts:
    """What an entity consists of, by id; the first part that a node is of counts."""

    def __init__(self, graph: Graph, entity: Node) -> None:
        """With what a formulation contains, and what formulations in it do."""
        self.graph, self.by_id = graph, {entity.node_id: Part(entity)}
        self.edges: list[Edge] = []
        self.left_out = 0
        outer = [entity] if entity.type is NodeType.FORMULATION else []
        for _ in range(DEPTH):
            inner = [node for _, node in self._walk(outer, EdgeType.CONTAINS) if node.node_id not in self.by_id]
            self.by_id |= {node.node_id: Part(node, 1) for node in inner}
            outer = [node for node in inner if node.type is NodeType.FORMULATION]
        herbs = [each.node for each in self.by_id.values() if each.node.type is NodeType.HERB]
        for herb, node in self._walk(herbs, EdgeType.HAS_CONSTITUENT):
            self.by_id.setdefault(node.node_id, Part(node, 2, constituent_of=herb))

    def _walk(self, nodes: Sequence[Node], edge: EdgeType) -> Iterator[tuple[Node, Node]]:
        """Yield each of `nodes` with each node that such an edge leads to."""
        at = self.graph.neighbours([each.node_id for each in nodes], [Step(edge)], EDGES) if nodes else {}
        reached = self.graph.nodes([each.to_id for here in at.values() for each in here.edges])
        self.left_out += sum(each.left_out for each in at.values())
        for node in nodes:
            for each in at[node.node_id].edges if node.node_id in at else ():
                self.edges.append(each)
                yield node, reached[each.to_id]


def _finding(
    parts: _Parts, edge: Edge, others: Mapping[str, Node], papers: Mapping[str, Paper], elsewhere: frozenset[str]
) -> Finding:
    """The edge as a finding of the part that is nearest to the entity, of its two ends."""
    ends = [end for end in (edge.from_id, edge.to_id) if end in parts.by_id]
    nearest = min(ends, key=lambda end: parts.by_id[end].distance)
    other = others[edge.to_id if nearest == edge.from_id else edge.from_id]
    part = parts.by_id[nearest]
    cited = tuple(papers[pmid] for pmid in dict.fromkeys(each.pmid for each in edge.evidence if each.pmid))
    about = part.phrase if part.constituent_of else None
    graded = grade(cited, by_rule=not without_documents(edge.sources), about=about)
    return Finding(part, edge, other, len(ends) > 1, cited, graded, elsewhere)


def _elsewhere(edge: Edge, documents: Mapping[str, Document]) -> frozenset[str]:
    """The quotes of an edge that are not in what the corpus has of the paper that they are said to be from."""
    found = set()
    for each in edge.evidence:
        if each.quote and (paper := documents.get(each.pmid or "")):
            wanted, texts = comparable(trimmed(each.quote)), (paper.article.title or "", abstract_text(paper.article))
            if not any(wanted.folded in comparable(text).folded for text in texts):
                found.add(each.quote)
    return frozenset(found)


def evidence_text(finding: Finding) -> str:
    """The evidence as a text: each paper with its quotes, and the sources that say so, always."""
    quotes: dict[str | None, list[str]] = {each.pmid: [] for each in finding.edge.evidence}
    for each in finding.edge.evidence:
        aside = " (not in its title or abstract)" if each.quote in finding.elsewhere else ""
        quotes[each.pmid] += [f'"{each.quote}"{aside}'] if each.quote else []
    summaries = {each.pmid: each.summary for each in finding.papers}
    parts = [": ".join(filter(None, [summaries.get(pmid or ""), " ".join(quoted)])) for pmid, quoted in quotes.items()]
    cited = "; ".join(filter(None, parts)) or "no paper is cited"
    stop = "" if cited.endswith('."') else "."
    sources = finding.edge.sources
    return f"{cited}{stop} Source{'s' * (len(sources) != 1)}: {', '.join(sources)}."
