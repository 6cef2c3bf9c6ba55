"""Ask the graph of herbs, constituents and indications."""

from bio_mcp.answering.contraindications import contraindications_of
from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import NodeType
from bio_mcp.ports import Backends
from bio_mcp.tool import tool
from bio_mcp.tools import budget
from bio_mcp.tools.families import TTM
from bio_mcp.tools.kg.contraindications import Contraindications, Entities, entity_of, rows_of, warnings_of


@tool("find_contraindications", family=TTM, timeout=8, longest=budget.DEFAULT, output_listed=False)
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
    return budget.within(answer, "results", budget.DEFAULT, lambda rest: {"left_out": len(rest)})
