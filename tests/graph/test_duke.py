import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.duke import ACTIVITY, SOURCE, node_id, records_of
from bio_mcp.graph.nodes import NODE_ID, Edge, EdgeType, Node, NodeType

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


def test_no_row_says_that_a_plant_treats_anything():
    assert not [each for each in records_of(ROW) if isinstance(each, Edge) and each.type is EdgeType.TREATS]


@pytest.mark.parametrize("application", [None, "", "Antidiabetic?", "FLavor", "Perfumery", 7])
def test_what_is_doubted_or_no_activity_is_left_out(application):
    assert len(list(records_of({**ROW, "application": application}))) == 3


@pytest.mark.parametrize("number", [None, True, -1, 0, 1e300, float("nan"), "73659"])
def test_a_number_that_is_none_of_pubchem_is_left_out(number):
    _, compound, *_ = records_of({**ROW, "pubchem_cid": number})
    assert compound.synonyms == ()


def test_an_abbreviation_keeps_its_capitals():
    _, compound, *_ = records_of({**ROW, "chemical": "GABA"})
    assert compound.names == {"en": "GABA"}


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
