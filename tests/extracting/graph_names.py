"""Nodes of things that everybody knows, to find in sentences."""

from bio_mcp.extracting.gazetteer import Gazetteer
from bio_mcp.graph.nodes import Node, NodeType, names_of


def node(node_id, kind, english, *synonyms, **names):
    return Node(node_id, NodeType(kind), {"en": english, **names}, synonyms)


NODES = [
    node("turmeric", "herb", "Turmeric", "Curcuma longa", th="ขมิ้นชัน"),
    node("ginger", "herb", "Ginger", th="ขิง"),
    node("galangal", "herb", "Galangal", th="ข่า"),
    node("peppermint", "herb", "Peppermint", "Mentha × piperita"),
    node("panax", "herb", "Panax ginseng", "Ginseng"),
    node("american", "herb", "American ginseng", "Ginseng", "Panax quinquefolius"),
    node("mixture", "formulation", "Ya Hom"),
    node("curcumin", "constituent", "Curcumin"),
    node("carotene", "constituent", "β-carotene"),
    node("warfarin", "drug", "Warfarin"),
    node("asa", "drug", "ASA"),
    node("dyspepsia", "indication", "Dyspepsia", th="ท้องอืด"),
    node("infarction", "indication", "Myocardial infarction"),
    node("gallstones", "indication", "Gallstones"),
    node("pregnancy", "contraindication", "Pregnancy", th="ตั้งครรภ์"),
    node("pregnant", "indication", "Pregnancy"),
]


def gazetteer(*more):
    return Gazetteer((name, each) for each in (*NODES, *more) for name in names_of(each))
