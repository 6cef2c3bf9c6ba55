import pytest

from bio_mcp.graph.nodes import Node, NodeType, fold_name, folded_names, names_of


@pytest.mark.parametrize(
    "spellings",
    [
        ["Turmeric", "TURMERIC", " turmeric ", "turméric", "ｔｕｒｍｅｒｉｃ", "tur\u200bmeric", "tur\u00admeric"],
        ["Curcuma longa", "curcuma  longa", "Curcūma longa", "Curcuma-longa", "Curcuma_longa", "CURCUMA LONGA."],
        ["Mentha × piperita", "Mentha x piperita", "Mentha piperita", "Mentha X piperita"],
        ["St. John's wort", "St John’s Wort", "st johns wort"],
        ["β-Carotene", "beta-carotene", "Beta Carotene", "Β-CAROTENE", "ϐ carotene"],
        ["Bœrhavia", "Boerhavia"],
        ["Straße", "STRASSE"],
        ["6-Gingerol", "6 gingerol", "[6]-gingerol"],
        ["µ-opioid", "μ opioid", "mu opioid"],
        ["H₂O", "h2o"],
        ["ขมิ้นชัน", "ขมิ้น ชัน", "ขมิ้น\u200bชัน"],
        ["น้ำ", "นํ้า", "น้ํา", "นํ้า"],
        ["แห้วหมู", "เเห้วหมู"],
        ["ไพล (Zingiber)", "ไพล zingiber"],
    ],
)
def test_spellings_of_one_name_are_one(spellings):
    assert len({fold_name(each) for each in spellings}) == 1
    assert fold_name(spellings[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ขา", "ข้า"),  # leg, servant: the tone tells them apart
        ("ไพล", "ไผ่"),
        ("ข่า", "ขา"),  # galangal, leg
        ("1,8-cineole", "18-cineole"),
        ("alpha-pinene", "beta-pinene"),
        ("vitamin K1", "vitamin K2"),
        ("axb", "ab"),
    ],
)
def test_names_that_differ_stay_different(one, other):
    assert fold_name(one) != fold_name(other)


@pytest.mark.parametrize("text", ["", " ", "?", "---", "\u200b", "×"])
def test_what_has_no_letter_and_no_digit_is_no_name(text):
    assert fold_name(text) == ""


def test_folding_what_is_folded_changes_nothing():
    for name in ("Mentha × piperita", "β-Carotene", "น้ำ", "St. John's wort", "Δ9-THC", "a x x b"):
        assert fold_name(fold_name(name)) == fold_name(name)


def test_a_node_has_every_name_once():
    node = Node(
        "H1", NodeType.HERB, {"en": "Ginger", "th": "ขิง", "la": "Zingiber officinale"}, synonyms=("ginger", "ขิง", "?")
    )
    assert list(names_of(node)) == ["Ginger", "ขิง", "Zingiber officinale", "ginger", "?"]
    assert list(folded_names(node)) == ["ginger", "ขิง", "zingiber officinale"]
