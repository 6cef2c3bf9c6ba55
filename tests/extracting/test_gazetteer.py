"""Names in a text: whole words, the longest, in any spelling, with every node that they may stand for."""

import pytest

from bio_mcp.extracting.gazetteer import Naming
from tests.extracting.graph_names import gazetteer, node


@pytest.fixture(scope="module")
def names():
    return gazetteer()


def found(names, text):
    return [(text[each.start : each.end], [entry.node.node_id for entry in each.entries]) for each in names.find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TURMERIC (curcuma  longa)", [("TURMERIC", ["turmeric"]), ("curcuma  longa", ["turmeric"])]),
        ("Beta-carotene and β‐Carotene", [("Beta-carotene", ["carotene"]), ("β‐Carotene", ["carotene"])]),
        ("Mentha x piperita", [("Mentha x piperita", ["peppermint"])]),
        ("Mentha piperita", [("Mentha piperita", ["peppermint"])]),
        ("gingers and a gallstone", [("gingers", ["ginger"]), ("gallstone", ["gallstones"])]),
        ("gingery gingerol", []),
        ("American ginseng", [("American ginseng", ["american"])]),
        ("Ginseng", [("Ginseng", ["american", "panax"])]),
        ("ASA was ideal in Asa Gray's days", [("ASA", ["asa"])]),
        ("Panax. Ginseng", [("Ginseng", ["american", "panax"])]),
    ],
)  # fmt: skip
def test_names_are_whole_words_in_any_spelling_and_the_longest_counts(names, text, expected):
    assert found(names, text) == expected


def test_another_name_of_a_mesh_concept_stands_for_the_node_and_says_by_which(names):
    [match] = names.find("after a heart attack")
    assert [(each.node.node_id, each.naming, each.name) for each in match.entries] == [
        ("infarction", Naming.CONCEPT, "Myocardial infarction")
    ]


def test_a_mesh_name_without_a_node_keeps_its_words_from_a_shorter_name():
    names = gazetteer(node("cancer", "indication", "Cancer"))
    assert found(names, "cancer") == [("cancer", ["cancer"])]
    assert found(names, "abdominal cancer") == [("abdominal cancer", [])]


def test_words_that_have_the_stem_of_a_mesh_name_are_none(names):
    assert found(names, "It is indicated; they said so, tried bending, and saw pain and muscle.") == []
    assert [text for text, _ in found(names, "cancer of the liver")] == ["cancer of the liver"]
    assert [text for text, _ in found(names, "abdominal pain, liver cancer, strokes")] == [
        "abdominal pain",
        "liver cancer",
        "strokes",
    ]


def test_thai_names_are_found_without_spaces_and_a_short_one_not_within_a_word(names):
    assert found(names, "ขมิ้นชันห้ามใช้ในหญิงตั้งครรภ์") == [("ขมิ้นชัน", ["turmeric"]), ("ตั้งครรภ์", ["pregnancy"])]
    assert found(names, "ข่าวดีและข่า ขิงช่วย") == [("ข่า", ["galangal"]), ("ขิง", ["ginger"])]


def test_a_name_that_is_a_word_of_english_is_not_looked_for():
    assert found(gazetteer(node("x", "herb", "The"), node("y", "herb", "7")), "the 7 herbs") == []
