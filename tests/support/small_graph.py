"""A small graph, made up: its sources and papers say nothing of real herbs."""

from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType

TURMERIC = Node(
    "H1",
    NodeType.HERB,
    {"en": "Turmeric", "th": "ขมิ้นชัน", "la": "Curcuma longa"},
    ("Curcuma domestica",),
    ("rhizome",),
    sources=("A flora",),
)
GINGER = Node("H2", NodeType.HERB, {"en": "Ginger", "th": "ขิง", "la": "Zingiber officinale"})
CURCUMIN = Node("C9", NodeType.CONSTITUENT, {"en": "Curcumin"}, ("Diferuloylmethane",))
GINGEROL = Node("C10", NodeType.CONSTITUENT, {"en": "6-Gingerol"})
DYSPEPSIA = Node("I05", NodeType.INDICATION, {"en": "Dyspepsia"}, icd_code="K30", description="Functional dyspepsia")
NAUSEA = Node("I06", NodeType.INDICATION, {"en": "Nausea"}, icd_code="R11")
WARFARIN = Node("D1", NodeType.DRUG, {"en": "Warfarin"})
GINGER_ALE = Node("F1", NodeType.FORMULATION, {"en": "Ginger mixture"})
GINGER_DRUG = Node("D2", NodeType.DRUG, {"en": "Ginger extract"}, ("Ginger",))

FLORA, REVIEW = ("A flora",), ("A review",)
EDGES = (
    Edge(EdgeType.HAS_CONSTITUENT, "H1", "C9", FLORA),
    Edge(EdgeType.HAS_CONSTITUENT, "H2", "C10", FLORA),
    Edge(EdgeType.HAS_CONSTITUENT, "H2", "C9", ("Another flora",)),
    Edge(EdgeType.TREATS, "C9", "I05", REVIEW, (Evidence("17727691", "It helps."), Evidence("17727691"))),
    Edge(EdgeType.TREATS, "C10", "I06", REVIEW, (Evidence("1"),)),
    Edge(EdgeType.TREATS, "H2", "I06", REVIEW),
    Edge(EdgeType.TREATS, "H1", "I05", REVIEW, (Evidence(quote="Used of old."),)),
    Edge(EdgeType.INTERACTS_WITH, "H1", "D1", REVIEW),
    Edge(EdgeType.CONTAINS, "F1", "H2", ("A formulary",)),
)
NODES = (TURMERIC, GINGER, CURCUMIN, GINGEROL, DYSPEPSIA, NAUSEA, WARFARIN, GINGER_ALE, GINGER_DRUG)
