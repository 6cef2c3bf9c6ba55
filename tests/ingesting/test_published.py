import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import NODE_ID, Edge, EdgeType, Node, NodeType
from bio_mcp.ingesting.graph_import import ACTIVITY, ICD_SOURCE, SOURCE, indication_of, node_id, records_of

ROW = {
    "chemical": "MASLINIC-ACID",
    "plant_species": "Terminalia pallida",
    "application": "Antihistaminic",
    "dosage": None,
    "pubchem_cid": 73659.0,
}
HERB, COMPOUND = "duke:plant:terminalia-pallida", "duke:chemical:maslinic-acid"


def test_a_row_is_a_plant_with_a_compound_and_what_the_compound_acts_on():
    activity = "duke:activity:antihistaminic"
    assert list(records_of(ROW)) == [
        Node(HERB, NodeType.HERB, {"la": "Terminalia pallida"}, sources=(SOURCE,)),
        Node(COMPOUND, NodeType.CONSTITUENT, {"en": "maslinic-acid"}, ("PubChem CID 73659",), sources=(SOURCE,)),
        Edge(EdgeType.HAS_CONSTITUENT, HERB, COMPOUND, (SOURCE,)),
        Node(activity, NodeType.INDICATION, {"en": "Antihistaminic"}, description=ACTIVITY, sources=(SOURCE,)),
        Edge(EdgeType.ACTS_ON, COMPOUND, activity, (SOURCE,)),
    ]


@pytest.mark.parametrize("application", [None, "", "Antidiabetic?", "FLavor", "Perfumery", 7])
def test_what_is_doubted_or_no_activity_is_left_out(application):
    assert len(list(records_of({**ROW, "application": application}))) == 3


@pytest.mark.parametrize("number", [None, True, -1, 0, 1e300, float("nan"), "73659"])
def test_a_number_that_is_none_of_pubchem_is_left_out(number):
    _, compound, *_ = records_of({**ROW, "chemical": "GABA", "pubchem_cid": number})
    assert (compound.names, compound.synonyms) == ({"en": "GABA"}, ())  # an abbreviation keeps its capitals


def test_ids_are_stable_and_tell_names_apart():
    names = ["A-B", "A,B", "(+)-A-B", "(-)-A-B", "a b c", "X" * 200, "X" * 199, "ALPHA-PINENE", "α-pinene"]
    ids = [node_id("chemical", each) for each in names]
    assert len(set(ids)) == len(names)
    assert all(NODE_ID.fullmatch(each) for each in ids)
    assert ids[0] == "duke:chemical:a-b"
    assert node_id("plant", "Zingiber  Officinale") == "duke:plant:zingiber-officinale"


@pytest.mark.parametrize("row", [{}, {**ROW, "chemical": None}, {**ROW, "plant_species": " "}, {**ROW, "chemical": 7}])
def test_a_row_without_plant_or_compound_is_refused(row):
    with pytest.raises(InvalidInput, match="a name"):
        list(records_of(row))


@pytest.mark.parametrize(
    ("code", "dotted"),
    [("K30", "K30"), ("R112", "R11.2"), ("R11.2", "R11.2"), ("T3695XA", "T36.95XA"), ("C7A00", "C7A.00")],
)
def test_a_code_is_an_indication_that_is_found_by_it(code, dotted):
    names = {"en": "A complaint"}
    node = Node(f"icd10cm:{dotted}", NodeType.INDICATION, names, (dotted,), icd_code=dotted, sources=(ICD_SOURCE,))
    assert indication_of(code, [True, "A complaint"]) == indication_of(code, "A complaint") == node


@pytest.mark.parametrize(
    ("code", "value", "why"),
    [
        ("K3", "x", "'K3' is no code of ICD-10-CM"),
        ("k30", "x", "is no code"),
        ("K30\n", "x", "is no code"),
        ("K30", None, "K30: a text"),
        ("K30", [True], "K30: a text"),
        ("K30", [True, 7], "K30: a text"),
        ("K30", "", "names: an object with a name"),
    ],
)
def test_what_is_no_code_or_no_text_is_refused(code, value, why):
    with pytest.raises(InvalidInput, match=why):
        indication_of(code, value)
