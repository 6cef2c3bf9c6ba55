"""The page Graph: what is documented of a node, drawn and as a table, and names of several or of none."""

from urllib.parse import quote, urlencode

import pytest

from bio_mcp.graph.nodes import Edge, EdgeType, Node, NodeType
from tests.doors.console.pages import Page, browser
from tests.support.corpus import Corpus


def asked(client, name):
    return Page(client.get("/graph?" + urlencode({"q": name})))


def test_the_first_page_has_the_field(get):
    page = get("/graph")
    assert page.text("label") == "Herb, constituent, indication or drug"
    assert page.all("table") == []


@pytest.mark.parametrize("name", ["Testwort", "หญ้าทดสอบ", "H1"])
def test_a_herb_has_its_statements_with_their_sources_and_what_endangers_apart(client, name):
    page = asked(client, name)
    assert page.text("h2").startswith("Testwort")
    rows = {row[0]: row[2] for row in page.rows() if row[0] != "Statement"}
    assert any(row.startswith("has the constituent testin") for row in rows)
    assert all(rows.values())
    safety = page.text("section", cls="answer")
    assert "is contraindicated with Pregnancy" in safety
    assert page.text("desc") == ("Formulation: Fictive Five; Herb: Testwort; Constituent: testin; Use: Imaginary cough")


def test_a_drug_shows_what_interacts_with_it_and_the_herbs_that_have_such_a_constituent(client):
    page = asked(client, "placebin")
    [_, interacts], [_, reaches] = ([row for row in page.rows() if len(row) == cells] for cells in (3, 4))
    assert interacts[0] == "interacts with testin"
    assert reaches == ["Testwort", "testin interacts with placebin", "PMID 17727691", "made up for tests"]
    assert "Nothing is documented" not in page.source


SOURCES = ("a book", "a review")
NODES = [
    Node("W", NodeType.DRUG, {"en": "Warfarin"}),
    Node("A", NodeType.DRUG, {"en": "Aspirin"}),
    Node("G", NodeType.HERB, {"en": "Ginger"}),
    Node("T", NodeType.HERB, {"en": "Turmeric"}),
    Node("C", NodeType.CONSTITUENT, {"en": "curcumin"}),
    Node("P", NodeType.INDICATION, {"en": "Anticoagulant"}),
    *(Node(f"M{number:02}", NodeType.CONSTITUENT, {"en": f"molecule {number}"}) for number in range(20)),
]
EDGES = [
    Edge(EdgeType.INTERACTS_WITH, "G", "W", SOURCES),
    Edge(EdgeType.INTERACTS_WITH, "C", "W", SOURCES),
    Edge(EdgeType.INTERACTS_WITH, "A", "W", SOURCES),
    Edge(EdgeType.CONTRAINDICATED_WITH, "G", "W", SOURCES),
    Edge(EdgeType.HAS_CONSTITUENT, "T", "C", SOURCES),
    Edge(EdgeType.ACTS_ON, "C", "P", SOURCES),
    *(Edge(EdgeType.HAS_CONSTITUENT, "G", each.node_id, SOURCES) for each in NODES[-20:]),
]


@pytest.fixture
def drugs(tmp_path):
    """A drug with which two herbs, a constituent and another drug interact."""
    with Corpus(tmp_path) as made:
        made.graph.put(NODES, EDGES)
        yield browser(made)


def test_a_drug_is_drawn_in_columns_with_the_sources_of_each_edge(drugs):
    page = asked(drugs, "warfarin")
    assert page.text("desc") == (
        "Drug: Warfarin; Herb: Ginger; Constituent: curcumin; Other drug: Aspirin; "
        "Herb that has it: Turmeric; Action: Anticoagulant"
    )
    drawn = [
        "Warfarin is a contraindication of Ginger",
        "Warfarin interacts with Aspirin",
        "Warfarin interacts with curcumin",
        "Warfarin interacts with Ginger",
        "curcumin is a constituent of Turmeric",
        "curcumin acts on Anticoagulant",
    ]
    assert [each for each in page.texts("title") if each.endswith(": a book; a review")] == [
        f"{each}: a book; a review" for each in drawn
    ]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            "warfarin",
            ["interacts with Aspirin", "interacts with curcumin", "interacts with Ginger", "curcumin acts on"],
        ),
        ("curcumin", ["interacts with Warfarin", "is a constituent of Turmeric", "acts on Anticoagulant"]),
        ("Anticoagulant", ["is acted on by curcumin"]),
        ("Turmeric", ["has the constituent curcumin", "curcumin acts on Anticoagulant"]),
    ],
)
def test_what_is_drawn_stands_in_a_table_too(drugs, name, rows):
    page = asked(drugs, name)
    stated = [row for row in page.rows() if "Sources" not in row]
    assert {row[-1] for row in stated} == {"a book; a review"}
    assert [any(row[0].startswith(each) for row in stated) for each in rows] == [True] * len(rows)


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("Anticoagulant", "Constituent: curcumin; Action: Anticoagulant"),
        ("Aspirin", "Drug: Aspirin; Other drug: Warfarin"),
    ],
)
def test_what_is_acted_on_is_no_use_and_a_drug_is_drawn_beside_another(drugs, name, columns):
    assert asked(drugs, name).text("desc") == columns


def test_what_has_no_room_in_the_drawing_is_counted_and_in_the_table(drugs):
    page = asked(drugs, "Ginger")
    assert "8 more statements have no room in the drawing." in page.texts("p")
    assert sum(row[0].startswith("has the constituent") for row in page.rows()) == 20


@pytest.mark.parametrize(
    ("written", "meant"), [("Testwrot", "Testwort"), ("หญ้าทดสอ", "หญ้าทดสอบ"), ("ตั้งครรถ์", "ตั้งครรภ์")]
)
def test_a_name_that_is_nearly_right_is_suggested(client, written, meant):
    page = asked(client, written)
    assert "Did you mean" in page.text("p", cls="empty")
    assert {"/graph?" + urlencode({"q": meant}), "/?q=" + quote(written)} <= {*page.links}


@pytest.fixture
def alike(tmp_path):
    """A graph in which a name is of two herbs, of which one has something."""
    herbs = [Node(each, NodeType.HERB, {"en": "Ginger"}, sources=("a book",)) for each in ("A", "B")]
    constituent = Node("C", NodeType.CONSTITUENT, {"en": "<b>gingerol</b>"}, sources=("a book",))
    with Corpus(tmp_path) as made:
        made.graph.put([*herbs, constituent], [Edge(EdgeType.HAS_CONSTITUENT, "B", "C", ("a book",))])
        yield browser(made)


def test_a_name_of_several_shows_what_each_has_and_says_of_none_that_there_is_nothing(alike):
    page = asked(alike, "ginger")
    assert [text for text in page.texts("p") if text.startswith("herb")] == [
        "herb · 0 statements",
        "herb · 1 statement: 1 constituent",
    ]
    assert "Nothing is documented" not in page.source
    assert {"/graph?q=A", "/graph?q=B"} <= set(page.links)


def test_a_node_without_any_leads_to_the_one_of_its_name_that_has_something(alike):
    page = asked(alike, "A")
    assert "Nothing is documented" not in page.source
    assert "/graph?q=B" in page.links


def test_what_a_source_writes_is_shown_as_text(alike):
    page = asked(alike, "B")
    assert page.all("b") == []
    assert "<b>gingerol</b>" in page.rows()[1][0]


@pytest.mark.parametrize("name", ["!!!", "x" * 20_000, "<script>"])
def test_any_name_has_a_page(client, name):
    assert asked(client, name).status in (200, 400)
