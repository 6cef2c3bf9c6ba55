"""Input and answer of the tool that looks up what is documented against a herb."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from bio_mcp.answering.contraindications import Checked, Finding, Status, evidence_text
from bio_mcp.graph.nodes import EdgeType, Node
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.schemas import unpublished
from bio_mcp.tool import Request, Response
from bio_mcp.tools.budget import DEFAULT, MaxCharacters

_ABSENT: Any = None  # an optional input is absent, never null, so its type is the plain one
EntityId = Annotated[str, Field(max_length=200, json_schema_extra=unpublished)]
NO_FINDING = "nothing is documented in the sources named; that is no finding that there is nothing"


class Entities(Request):
    """Herbs and formulations to check."""

    most_items: ClassVar[int] = 50

    herb_ids: list[EntityId] = Field(default=_ABSENT, description="or names")
    formulation_ids: list[EntityId] = _ABSENT
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


def rows_of(checked: Checked) -> list[Contraindication]:
    """The findings of an entity as clients see them."""
    return [_row(checked.node, each) for each in checked.findings] if checked.node else []


def _row(entity: Node, finding: Finding) -> Contraindication:
    part = finding.part
    return Contraindication(
        entity_id=entity.node_id,
        type=_type(entity.type),
        contraindication=_phrase(finding),
        evidence=evidence_text(finding),
        strength=_STRENGTHS[finding.graded.strength],
        derivation=list(finding.graded.derivation),
        relation="interacts_with" if finding.edge.type is EdgeType.INTERACTS_WITH else "contraindicated_with",
        with_id=finding.other.node_id,
        by=part.node.node_id if part.phrase else None,
        papers=[
            CitedPaper(
                pmid=each.pmid,
                title=each.title,
                year=each.year,
                design=each.name,
                retraction=each.retraction or RetractionStatus.UNKNOWN,
                counts=each.counts,
            )
            for each in finding.papers
        ],
        sources=list(finding.edge.sources),
    )


_STRENGTHS: tuple[Literal["low"], Literal["moderate"], Literal["high"]] = ("low", "moderate", "high")


def _phrase(finding: Finding) -> str:
    """What stands against the entity, in words: `interaction with Warfarin, by Ginger, which it contains`."""
    what = finding.other.label
    what = f"interaction with {what}" if finding.edge.type is EdgeType.INTERACTS_WITH else what
    by = f", by {finding.part.phrase}" if finding.part.phrase else ""
    return f"{what}{by}{'; both are in it' if finding.inside else ''}"


def entity_of(checked: Checked) -> CheckedEntity:
    """How an entity was looked up."""
    node = checked.node
    return CheckedEntity(
        entity_id=node.node_id if node else checked.asked,
        type=_type(checked.type),
        status=checked.status,
        label=node.label if node else None,
        sources=list(checked.sources),
        candidates=[Candidate(id=each.node_id, type=each.type.value, label=each.label) for each in checked.candidates],
    )


def _type(name: str) -> Literal["herb", "formulation"]:
    return "formulation" if name == "formulation" else "herb"


def warnings_of(checked: Checked) -> list[str]:
    """What a reader of the answer must know of an entity."""
    if named := [each.node_id for each in checked.candidates if each.type == checked.type]:
        return [f"{checked.asked!r} may be {' or '.join(named)}: give the id; nothing was looked up for it"]
    if checked.status is Status.UNKNOWN:
        return [f"{checked.asked[:100]!r} is no {checked.type} that the graph knows, so nothing was looked up for it"]
    label = checked.node.label if checked.node else checked.asked
    sentences = [f"{label}: {NO_FINDING}"] if checked.status is Status.NOTHING_DOCUMENTED else []
    if checked.left_out:
        sentences.append(f"{label}: {checked.left_out:,} edges of it or its parts were not looked at")
    return sentences
