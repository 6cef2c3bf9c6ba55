"""The graph of herbs, constituents and indications: paths, contraindications, and a herb."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from bio_mcp.answering.contraindications import contraindications_of
from bio_mcp.answering.graph_nodes import relations, resolve
from bio_mcp.answering.graph_paths import find_paths
from bio_mcp.answering.retractions import flag_warnings, flagged
from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import NodeType
from bio_mcp.graph.paths import Walk
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports import Backends
from bio_mcp.tool import Context, resource, tool
from bio_mcp.tools import budget
from bio_mcp.tools.families import TTM
from bio_mcp.tools.kg.contraindications import Contraindications, Entities, entity_of, rows_of, warnings_of
from bio_mcp.tools.kg.shapes import GraphPaths, GraphQuestion, Herb, filters_of, herb_of, path_of, pmids_of

MOST_UNREAD = 5  # nodes named in a warning


@tool("query_kg", family=TTM, scope="read", timeout=8, output_listed=False, longest=budget.DEFAULT)
def query_kg(request: GraphQuestion, backends: Backends, context: Context) -> GraphPaths:
    """Walk from a herb, constituent or indication, each edge with its sources: constituents, what they act on, uses.

    No path is a proof that something helps or is safe.
    """
    start = resolve(request.start.id, backends.graph, NodeType(request.start.type))
    found = find_paths(
        start,
        backends.graph,
        context.deadline,
        pattern=request.pattern,
        depth=request.max_depth if not request.pattern or "max_depth" in request.model_fields_set else None,
        filters=filters_of(request.filters, backends.graph),
        limit=request.filters.limit,
    )
    edges = [visit.edge for path in found.paths for visit in path if visit.edge]
    retracted = flagged({pmid for edge in edges for pmid in pmids_of(edge)}, backends)
    paths = [path_of(each, retracted) for each in found.paths]
    answer = GraphPaths(paths=paths, **_left_out(found, retracted, 0))
    most = request.max_characters - budget.AUDIT
    return budget.within(answer, "paths", most, lambda rest: _left_out(found, retracted, len(rest)))


@tool(
    "find_contraindications",
    family=TTM,
    scope="read",
    command="kg contraindications",
    timeout=8,
    longest=budget.DEFAULT,
    output_listed=False,
)
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
        results=[row for each in checked for row in rows_of(each)],
        entities=[entity_of(each) for each in checked],
        warnings=[sentence for each in checked for sentence in warnings_of(each)],
    )
    most = request.max_characters - budget.AUDIT
    return budget.within(answer, "results", most, lambda rest: {"left_out": len(rest)})


@resource("kg://herb/{id}", name="herb", family=TTM, scope="read", timeout=5)
def herb(backends: Backends, id: str) -> Herb:
    """A herb of the graph: names, parts, constituents, indications and other relations, with their sources."""
    node = resolve(id, backends.graph, NodeType.HERB)
    found, left_out = relations(node, backends.graph)
    retracted = flagged({pmid for each in found for pmid in pmids_of(each.edge)}, backends)
    return _fitted(herb_of(node, found, left_out, list(flag_warnings(retracted))))


def _fitted(answer: Herb) -> Herb:
    """The herb within the length of an answer: first its other relations go, then indications, then constituents."""
    for field in ("relations", "indications", "constituents"):
        answer = budget.within(answer, field, budget.DEFAULT - budget.AUDIT, partial(_more_left_out, answer.left_out))
    return answer


def _more_left_out(before: int, rest: Sequence[Any]) -> dict[str, Any]:
    return {"left_out": before + len(rest)}


def _left_out(found: Walk, retracted: Mapping[str, RetractionStatus], cut: int) -> dict[str, Any]:
    """The fields that say what the answer lacks, and which of its papers not to rely on. Empty ones are absent."""
    further = found.further + cut
    warnings = [*_warnings(found, further), *flag_warnings(retracted)]
    more = {"left_out": further, "warnings": warnings}
    complete = found.complete and not cut
    return {"complete": complete, **{name: value for name, value in more.items() if value}}


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
