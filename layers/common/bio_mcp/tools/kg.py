"""The graph of herbs, constituents and indications: paths, contraindications, and one herb."""

from collections.abc import Container, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, RootModel, WithJsonSchema

from bio_mcp.answering.contraindications import Checked, Finding, Status, contraindications_of, evidence_text
from bio_mcp.answering.graph_questions import DEPTH, MOST_PATHS, PATHS, find_paths, relations, resolve
from bio_mcp.answering.project_search import flagged
from bio_mcp.arguments import OneOf
from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import EDGE_TYPES, NODE_TYPES, Edge, EdgeType, Node, NodeType, Step, type_named
from bio_mcp.graph.paths import Filters, Visit, Walk
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.tool import ABSENT, Context, Request, Response, resource, said, stated, unpublished
from bio_mcp.tools import answer_size
from bio_mcp.tools.answer_size import DEFAULT, MaxCharacters
from bio_mcp.tools.fields import TTM, reading_tool

Name = Annotated[str, Field(max_length=300, json_schema_extra=unpublished)]
AnyNodeType = Annotated[  # formulations, drugs and contraindications too, which the contract's list does not name
    Literal["herb", "constituent", "indication", "formulation", "drug", "contraindication"],
    WithJsonSchema({"type": "string", "enum": ["herb", "constituent", "indication"]}),
]


class Start(Request):
    type: AnyNodeType
    id: Name = Field(description="or name: English, Thai, Latin")


class PathFilters(Request):
    """Which paths are wanted; conditions are joined by AND."""

    edges: list[Annotated[Name, OneOf(tuple(EDGE_TYPES))]] = Field(default_factory=list, description="only these types")
    nodes: list[Annotated[Name, OneOf(tuple(NODE_TYPES))]] = Field(default_factory=list)
    sources: list[Name] = Field(default_factory=list, description="any of these words")
    evidence: bool = Field(default=False, description="only edges with papers")
    icd: Name = Field(default=ABSENT, description="prefix of last node's code")
    to: Name = Field(default=ABSENT, description="last node, as start.id")
    limit: int = Field(default=PATHS, ge=1, le=MOST_PATHS)


class GraphQuestion(Request):
    start: Start
    pattern: str = Field(
        default=ABSENT, description="node types or edges: herb>constituent>indication, has_constituent>treats, ^treats"
    )
    filters: PathFilters = Field(default_factory=PathFilters)
    max_depth: int = Field(default=DEPTH, ge=1)
    max_characters: MaxCharacters = DEFAULT


class PathNode(Response):
    """A node of a path. `edge` led to it (`^`: walked backwards), with its sources and papers; `retracted` are those of
    them that should not be relied on."""

    id: str
    type: str
    label: str
    edge: str | None = None
    sources: list[str] = said(default_factory=list)
    pmids: list[str] = said(default_factory=list)
    retracted: list[str] = said(default_factory=list)


class GraphPath(RootModel[list[PathNode]]):
    """A path, from its start."""


class GraphPaths(Response):
    """Paths, always in the same order; `complete` if there are no others."""

    paths: list[GraphPath]
    complete: bool = True
    left_out: int = 0
    warnings: list[str] = Field(default_factory=list)


class Names(Response):
    """Names by language; `la` is Latin."""

    th: str | None = None
    en: str | None = None
    la: str | None = None


class HerbConstituent(Response):
    id: str
    name: str
    sources: list[str] = Field(default_factory=list)


class HerbIndication(Response):
    icdCode: str | None
    description: str
    id: str = ""
    sources: list[str] = Field(default_factory=list)
    pmids: list[str] = Field(default_factory=list)


class HerbRelation(Response):
    """Another edge of a herb; `^`: it leads to the herb."""

    edge: str
    id: str
    type: str
    label: str
    sources: list[str]
    pmids: list[str] = Field(default_factory=list)


class Herb(Response):
    """A herb with its relations. `sources` has those of the herb and of every edge."""

    id: str
    names: Names
    parts: list[str]
    constituents: list[HerbConstituent]
    indications: list[HerbIndication]
    sources: list[str]
    synonyms: list[str] = Field(default_factory=list)
    relations: list[HerbRelation] = Field(default_factory=list)
    left_out: int = 0
    warnings: list[str] = Field(default_factory=list)


def _path_node(visit: Visit, retracted: Container[str]) -> PathNode:
    node, edge = visit.node, visit.edge
    named: dict[str, Any] = {"id": node.node_id, "type": node.type.value, "label": node.label}
    if not edge:
        return PathNode(**named)
    bad = [each for each in edge.pmids if each in retracted]
    return PathNode.of(edge, **named, edge=direction(edge, backwards=visit.backwards), retracted=bad)


def direction(edge: Edge, *, backwards: bool) -> str:
    return f"^{edge.type.value}" if backwards else edge.type.value


EntityId = Annotated[str, Field(max_length=200, json_schema_extra=unpublished)]
NO_FINDING = "nothing is documented in the sources named; that is no finding that there is nothing"


class Entities(Request):
    most_items: ClassVar[int] = 50

    herb_ids: list[EntityId] = Field(default=ABSENT, description="or names")
    formulation_ids: list[EntityId] = ABSENT
    max_characters: MaxCharacters = DEFAULT


class CitedPaper(Response):
    """A paper that the graph cites, and what the corpus knows of it."""

    pmid: str
    title: str | None = None
    year: int | None = None
    design: str
    retraction: RetractionStatus = RetractionStatus.UNKNOWN
    counts: bool = Field(description="whether it adds to the strength")


class Contraindication(Response):
    """What must not come together with an entity, and why that is believed."""

    entity_id: str
    type: Literal["herb", "formulation"]
    contraindication: str
    evidence: str = Field(description="papers, quotes, sources")
    strength: Literal["low", "moderate", "high"]
    derivation: list[str] = Field(description="of the strength")
    relation: Literal["contraindicated_with", "interacts_with"]
    with_id: str
    by: str | None = Field(default=None, description="the part of the entity that it is of")
    papers: list[CitedPaper] = Field(default_factory=list)
    sources: list[str]


class Candidate(Response):
    """A node that an unknown id may mean."""

    id: str
    type: str
    label: str


class CheckedEntity(Response):
    """What was looked up for an entity, and in which sources."""

    entity_id: str
    type: Literal["herb", "formulation"]
    status: Status
    label: str | None = None
    sources: list[str] = Field(default_factory=list, description="that say anything of it")
    candidates: list[Candidate] = Field(default_factory=list)


class Contraindications(Response):
    """Everything documented, and for each entity whether anything is."""

    results: list[Contraindication]
    entities: list[CheckedEntity]
    left_out: int = Field(default=0, description="results without room")
    warnings: list[str] = Field(default_factory=list, description="tell the user")


def _row(entity: Node, finding: Finding) -> Contraindication:
    part = finding.part
    return Contraindication.of(
        finding.edge,
        finding.graded,
        entity_id=entity.node_id,
        type=entity.type.value,
        contraindication=_phrase(finding),
        evidence=evidence_text(finding),
        strength=finding.graded.strength.name.lower(),
        relation=finding.edge.type.value,
        with_id=finding.other.node_id,
        by=part.node.node_id if part.phrase else None,
        papers=[
            CitedPaper.of(each, design=each.name, retraction=each.retraction or RetractionStatus.UNKNOWN)
            for each in finding.papers
        ],
    )


def _phrase(finding: Finding) -> str:
    """What stands against the entity, in words: `interaction with Warfarin, by Ginger, which it contains`."""
    what = finding.other.label
    what = f"interaction with {what}" if finding.edge.type is EdgeType.INTERACTS_WITH else what
    by = f", by {finding.part.phrase}" if finding.part.phrase else ""
    return f"{what}{by}{'; both are in it' if finding.inside else ''}"


def _entity_of(checked: Checked) -> CheckedEntity:
    node = checked.node
    return CheckedEntity.of(
        checked,
        entity_id=node.node_id if node else checked.asked,
        type=checked.type.value,
        label=node.label if node else None,
        candidates=[Candidate.of(each, id=each.node_id) for each in checked.candidates],
    )


def _warnings_of(checked: Checked) -> list[str]:
    if named := [each.node_id for each in checked.candidates if each.type == checked.type]:
        return [f"{checked.asked!r} may be {' or '.join(named)}: give the id; nothing was looked up for it"]
    if checked.status is Status.UNKNOWN:
        return [f"{checked.asked[:100]!r} is no {checked.type} that the graph knows, so nothing was looked up for it"]
    label = checked.node.label if checked.node else checked.asked
    sentences = [f"{label}: {NO_FINDING}"] if checked.status is Status.NOTHING_DOCUMENTED else []
    if checked.left_out:
        sentences.append(f"{label}: {checked.left_out:,} edges of it or its parts were not looked at")
    return sentences


MOST_UNREAD = 5  # nodes named in a warning


@reading_tool("query_kg", family=TTM, timeout=8)
def query_kg(request: GraphQuestion, backends: Backends, context: Context) -> GraphPaths:
    """Walk from a herb, constituent or indication, each edge with its sources: constituents, what they act on, uses.

    No path is a proof that something helps or is safe.
    """
    start = resolve(request.start.id, backends.graph, NodeType(request.start.type))
    given = request.filters
    filters = Filters(
        edges=frozenset(type_named(each, EDGE_TYPES, "edge") for each in given.edges),
        nodes=frozenset(type_named(each, NODE_TYPES, "node type") for each in given.nodes),
        sources=tuple(given.sources),
        evidence=given.evidence,
        icd_prefix=given.icd or "",
        to=resolve(given.to, backends.graph).node_id if given.to else None,
    )
    found = find_paths(
        start,
        backends.graph,
        context.deadline,
        pattern=request.pattern,
        depth=request.max_depth if not request.pattern or "max_depth" in request.model_fields_set else None,
        filters=filters,
        limit=given.limit,
    )
    edges = [visit.edge for path in found.paths for visit in path if visit.edge]
    retracted = flagged({pmid for edge in edges for pmid in edge.pmids}, backends)
    paths = [GraphPath([_path_node(each, retracted) for each in path]) for path in found.paths]
    answer = GraphPaths(paths=paths, **_left_out(found, retracted, 0))
    most = request.max_characters - answer_size.AUDIT
    return answer_size.within(answer, "paths", most, more=lambda rest: _left_out(found, retracted, len(rest)))


@reading_tool("find_contraindications", family=TTM, command="kg contraindications", timeout=8)
def find_contraindications(request: Entities, backends: Backends) -> Contraindications:
    """Look up documented contraindications and interactions of herbs and formulations, with evidence and sources.

    `entities` says of each: documented, nothing_documented (in its sources, which proves nothing) or unknown.
    """
    asked = [(NodeType.HERB, each) for each in request.herb_ids or ()]
    asked += [(NodeType.FORMULATION, each) for each in request.formulation_ids or ()]
    if not asked:
        raise InvalidInput("give at least one id in herb_ids or formulation_ids")
    checked = contraindications_of(asked, backends.graph, backends.documents)
    answer = Contraindications(
        results=[_row(each.node, found) for each in checked if each.node for found in each.findings],
        entities=[_entity_of(each) for each in checked],
        warnings=[sentence for each in checked for sentence in _warnings_of(each)],
    )
    most = request.max_characters - answer_size.AUDIT
    return answer_size.within(answer, "results", most)


@resource("kg://herb/{id}", name="herb", family=TTM, scope="read", timeout=5)
def herb(backends: Backends, id: str) -> Herb:
    """A herb of the graph: names, parts, constituents, indications and other relations, with their sources."""
    node = resolve(id, backends.graph, NodeType.HERB)
    found, left_out = relations(node, backends.graph)
    retracted = flagged({pmid for each in found for pmid in each.edge.pmids}, backends)
    answer = Herb.of(
        node,
        id=node.node_id,
        names=Names(**{language: node.names.get(language) for language in ("th", "en", "la")}),
        constituents=[],
        indications=[],
        sources=list(dict.fromkeys([*node.sources, *(source for each in found for source in each.edge.sources)])),
        relations=[],
        left_out=left_out,
        warnings=list(retracted.values()),
    )
    for each in found:
        other, own = each.node, {"id": each.node.node_id}
        step = Step(each.edge.type, each.backwards)
        if step == Step(EdgeType.HAS_CONSTITUENT):
            answer.constituents.append(HerbConstituent.of(each.edge, id=other.node_id, name=other.label))
        elif step == Step(EdgeType.TREATS):
            about = other.description or other.label
            answer.indications.append(HerbIndication.of(each.edge, icdCode=other.icd_code, description=about, **own))
        else:
            edge = direction(each.edge, backwards=each.backwards)
            answer.relations.append(HerbRelation.of(other, each.edge, edge=edge, type=other.type.value, **own))
    for field in ("relations", "indications", "constituents"):  # the last go where the answer is too long
        answer = answer_size.within(answer, field, answer_size.DEFAULT - answer_size.AUDIT)
    return answer


def _left_out(found: Walk, retracted: Mapping[str, str], cut: int) -> dict[str, Any]:
    """The fields that say what the answer lacks, and which of its papers not to rely on. Empty ones are absent."""
    further = found.further + cut
    warnings = [*_warnings(found, further), *retracted.values()]
    return {"complete": found.complete and not cut, **stated(left_out=further, warnings=warnings)}


def _warnings(found: Walk, further: int) -> Iterator[str]:
    if further:
        yield f"{further} further paths are left out. Give a pattern, filters, filters.limit or max_characters."
    if found.stopped:
        yield "The walk stopped at its limit, so there may be more paths than were counted. Narrow the question."
    if found.unread:
        most = sorted(found.unread.items(), key=lambda each: (-each[1], each[0]))
        named = ", ".join(f"{count} of {node_id}" for node_id, count in most[:MOST_UNREAD])
        more = f" and of {len(most) - MOST_UNREAD} more nodes" if len(most) > MOST_UNREAD else ""
        yield f"These nodes have more edges than were walked: {named}{more}."
