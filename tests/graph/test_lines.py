import json

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.lines import LINE_BYTES, NODE_KEYS, parse_line
from bio_mcp.graph.nodes import Edge, EdgeType, Evidence, Node, NodeType

NODE = {"node": "herb", "id": "H1", "names": {"en": "Turmeric"}}
EDGE = {"edge": "has_constituent", "from": "H1", "to": "C9", "sources": ["A flora"]}


def parsed(record, **more):
    return parse_line(json.dumps({**record, **more}).encode())


def test_a_node_has_all_that_its_line_says():
    names = {"en": "Dyspepsia", "th": "อาหารไม่ย่อย", "la": "Dyspepsia functionalis"}
    given = {"node": "indication", "id": "I05", "names": names, "parts": ["rhizome"], "icdCode": "K30"}
    lists = {"synonyms": ["Indigestion", "Dyspepsia", "Indigestion"], "sources": ["A book", "A book"]}
    assert parsed(given, **lists, description="A  complaint.\n") == Node(
        "I05", NodeType.INDICATION, names, ("Indigestion",), ("rhizome",), "K30", "A complaint.", ("A book",)
    )


def test_an_edge_has_all_that_its_line_says():
    evidence = [{"pmid": "0384001", "quote": "Curcumin  is in it."}, {"pmid": 1}, {"quote": "So."}, {"pmid": "1"}]
    assert parsed(EDGE, evidence=evidence) == Edge(
        EdgeType.HAS_CONSTITUENT,
        "H1",
        "C9",
        ("A flora",),
        (Evidence("384001", "Curcumin  is in it."), Evidence("1"), Evidence(quote="So.")),
    )


def test_what_is_null_or_empty_is_absent():
    empty = {"synonyms": None, "parts": [], "icdCode": None, "description": "", "sources": None}
    assert parsed(NODE, **empty, names={"en": "Turmeric", "th": None}) == parsed(NODE)


def test_a_name_is_composed():
    assert parsed(NODE, names={"la": "Curcu\u0304ma"}).names == {"la": "Curc\u016bma"}


@pytest.mark.parametrize(
    ("record", "more", "why"),
    [
        (NODE, {"node": "plant"}, "'plant' is no node type; there are herb, formulation"),
        (NODE, {"node": 7}, "node: a text"),
        (NODE, {"edge": "treats"}, 'give either "node" or "edge"'),
        ({"id": "H1"}, {}, 'give either "node" or "edge"'),
        (NODE, {"colour": "red"}, f"'colour' is no key of it; there are {', '.join(NODE_KEYS)}"),
        (NODE, {"id": "../../etc"}, "id: an id has 1 to 100 letters"),
        *((NODE, {"id": each}, "id: an id") for each in ("ขิง", 7, "H" * 101)),
        *((NODE, {"names": each}, "names: an object") for each in ({}, {"en": None}, "Turmeric")),
        (NODE, {"names": {"English": "Turmeric"}}, "names: a language"),
        (NODE, {"names": {"en": "?"}}, "names.en: a name has a letter"),
        (NODE, {"names": {"en": "x" * 501}}, "names.en: at most 500"),
        (NODE, {"names": {"en": "a\x00b"}}, "names.en: it has a character that cannot be shown"),
        (NODE, {"names": {"en": "a\u202eb"}}, "names.en: it has a character"),
        (NODE, {"synonyms": ["\ud800"]}, "synonyms: it has a character"),
        (NODE, {"synonyms": "x"}, "synonyms: a list"),
        (NODE, {"synonyms": ["x"] * 201}, "synonyms: a list of at most 200"),
        (NODE, {"sources": [" "]}, "sources: it is empty"),
        (NODE, {"icdCode": "K" * 21}, "icdCode: at most 20"),
        (NODE, {"description": ["x"]}, "description: a text"),
        (EDGE, {"edge": "cures"}, "'cures' is no edge; there are has_constituent"),
        *((EDGE, {"sources": each}, "sources: an edge needs at least one") for each in ([], None)),
        (EDGE, {"to": "H1"}, "to: an edge leads to another node"),
        (EDGE, {"from": ""}, "from: an id"),
        (EDGE, {"weight": 1}, "'weight' is no key of it; there are edge, from, to"),
        (EDGE, {"evidence": ["1"]}, "evidence: each is an object"),
        (EDGE, {"evidence": [{}]}, "evidence: each needs a pmid, a quote or both"),
        (EDGE, {"evidence": [{"pmid": "PMC1"}]}, "'PMC1' is not a PMID"),
        *((EDGE, {"evidence": [{"pmid": each}]}, "evidence.pmid: a PMID is digits") for each in (True, 1.5)),
        (EDGE, {"evidence": [{"pmid": "1", "page": 3}]}, "'page' is no key of it; there are pmid, quote"),
        (EDGE, {"evidence": [{"quote": "x" * 5_001}]}, "evidence.quote: at most 5,000"),
    ],
)
def test_what_a_line_has_wrong_is_named(record, more, why):
    with pytest.raises(InvalidInput) as refused:
        parsed(record, **more)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"\xff\xfe", "it is not UTF-8"),
        (b"{", "it is no JSON: Expecting property name"),
        (b"[1]", "it is no JSON object"),
        (b'{"node": "herb", "node": "drug"}', "a key stands in it twice"),
        (b'{"node": ' + b"[" * 100_000, "its JSON is nested too deeply"),
        (b'{"node": ' + b"9" * 5_000 + b"}", "it is no JSON: a number is too long"),
    ],
)
def test_a_line_that_is_no_object_is_refused(line, why):
    assert len(line) < LINE_BYTES
    with pytest.raises(InvalidInput, match=why):
        parse_line(line)
