"""Inputs and answers of the tools that read the graph."""

from collections.abc import Container
from typing import Annotated, Any, Literal

from pydantic import Field, RootModel, WithJsonSchema

from bio_mcp.answering.graph_nodes import Relation, resolve
from bio_mcp.answering.graph_paths import DEPTH, MOST_PATHS, PATHS
from bio_mcp.graph.nodes import Edge, EdgeType, Node, Step
from bio_mcp.graph.paths import Filters, Path, Visit
from bio_mcp.graph.patterns import edge_type, node_type
from bio_mcp.ports.graph import Graph
from bio_mcp.schemas import unpublished
from bio_mcp.tool import Request, Response
from bio_mcp.tools.budget import DEFAULT, MaxCharacters

_ABSENT: Any = None  # an optional input is absent, never null, so its type is the plain one

Name = Annotated[str, Field(max_length=300, json_schema_extra=unpublished)]
AnyNodeType = Annotated[  # formulations, drugs and contraindications too, which the contract's list does not name
    Literal["herb", "constituent", "indication", "formulation", "drug", "contraindication"],
    WithJsonSchema({"type": "string", "enum": ["herb", "constituent", "indication"]}),
]


class Start(Request):
    """The node to start from."""

    type: AnyNodeType
    id: Name = Field(description="or name: English, Thai, Latin")


class PathFilters(Request):
    """Which paths are wanted; conditions are joined by AND."""

    edges: list[Name] = Field(default_factory=list, description="only these types")
    nodes: list[Name] = Field(default_factory=list)
    sources: list[Name] = Field(default_factory=list, description="any of these words")
    evidence: bool = Field(default=False, description="only edges with papers")
    icd: Name = Field(default=_ABSENT, description="prefix of last node's code")
    to: Name = Field(default=_ABSENT, description="last node, as start.id")
    limit: int = Field(default=PATHS, ge=1, le=MOST_PATHS)


class GraphQuestion(Request):
    """Where to start, and which way to go."""

    start: Start
    pattern: str = Field(
        default=_ABSENT, description="node types or edges: herb>constituent>indication, has_constituent>treats, ^treats"
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
    sources: list[str] = Field(default_factory=list)
    pmids: list[str] = Field(default_factory=list)
    retracted: list[str] = Field(default_factory=list)


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
    """A constituent of a herb."""

    id: str
    name: str
    sources: list[str] = Field(default_factory=list)


class HerbIndication(Response):
    """What a herb is used for."""

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


def filters_of(given: PathFilters, graph: Graph) -> Filters:
    """The filters of a walk. Raises `InvalidInput` for an unknown type, and what `resolve` does for the last node."""
    return Filters(
        edges=frozenset(edge_type(each) for each in given.edges),
        nodes=frozenset(node_type(each) for each in given.nodes),
        sources=tuple(given.sources),
        evidence=given.evidence,
        icd_prefix=given.icd or "",
        to=resolve(given.to, graph).node_id if given.to else None,
    )


def path_of(path: Path, retracted: Container[str]) -> GraphPath:
    """The path as clients see it."""
    return GraphPath([_path_node(each, retracted) for each in path])


def _path_node(visit: Visit, retracted: Container[str]) -> PathNode:
    node, edge = visit.node, visit.edge
    led: dict[str, Any] = {}
    if edge:
        pmids = pmids_of(edge)
        led = {
            "edge": direction(edge, backwards=visit.backwards),
            "sources": list(edge.sources),
            "pmids": pmids,
            "retracted": [each for each in pmids if each in retracted],
        }
    return PathNode(
        id=node.node_id,
        type=node.type.value,
        label=node.label,
        **{name: value for name, value in led.items() if value},
    )


def direction(edge: Edge, *, backwards: bool) -> str:
    """The edge's name as a pattern has it."""
    return f"^{edge.type.value}" if backwards else edge.type.value


def pmids_of(edge: Edge) -> list[str]:
    """The papers that an edge cites, each once."""
    return list(dict.fromkeys(each.pmid for each in edge.evidence if each.pmid))


def herb_of(node: Node, found: list[Relation], left_out: int, warnings: list[str]) -> Herb:
    """The herb as the contract has it, with its other relations."""
    constituents = [each for each in found if _step(each) == Step(EdgeType.HAS_CONSTITUENT)]
    indications = [each for each in found if _step(each) == Step(EdgeType.TREATS)]
    others = [each for each in found if each not in constituents and each not in indications]
    sources = [*node.sources, *(source for each in found for source in each.edge.sources)]
    return Herb(
        id=node.node_id,
        names=Names(**{language: node.names.get(language) for language in ("th", "en", "la")}),
        parts=list(node.parts),
        constituents=[_constituent(each) for each in constituents],
        indications=[_indication(each) for each in indications],
        sources=list(dict.fromkeys(sources)),
        synonyms=list(node.synonyms),
        relations=[_relation(each) for each in others],
        left_out=left_out,
        warnings=warnings,
    )


def _step(found: Relation) -> Step:
    return Step(found.edge.type, found.backwards)


def _constituent(found: Relation) -> HerbConstituent:
    return HerbConstituent(id=found.node.node_id, name=found.node.label, sources=list(found.edge.sources))


def _indication(found: Relation) -> HerbIndication:
    node = found.node
    return HerbIndication(
        icdCode=node.icd_code,
        description=node.description or node.label,
        id=node.node_id,
        sources=list(found.edge.sources),
        pmids=pmids_of(found.edge),
    )


def _relation(found: Relation) -> HerbRelation:
    return HerbRelation(
        edge=direction(found.edge, backwards=found.backwards),
        id=found.node.node_id,
        type=found.node.type.value,
        label=found.node.label,
        sources=list(found.edge.sources),
        pmids=pmids_of(found.edge),
    )
