"""A question as it is looked up: in English, with other names, and by the words that tell papers apart."""

from importlib.resources import files

import pytest

from bio_mcp.retrieval.analysis import query_terms
from bio_mcp.retrieval.question import (
    EXTRA_TERMS,
    WEIGHT,
    concepts,
    expansion,
    names_in_papers,
    parse_question,
)


@pytest.mark.parametrize(
    ("question", "english"),
    [
        ("ขมิ้นชันลดน้ำตาลในเลือดได้หรือไม่", "turmeric Curcuma longa blood glucose"),
        ("metformin กับความเสี่ยงของการติดเชื้อโควิด-19 ในผู้สูงอายุ", "metformin risk infection COVID-19 elderly aged"),
        ("ยาวาร์ฟาริน 5 mg", "drug warfarin 5 mg"),
        ("วิตามินบี12 กับภาวะโลหิตจาง", "vitamin B12 anemia"),
        ("โรคตับ", "liver"),
        ("does ขมิ้นชัน help the liver?", "does turmeric Curcuma longa help the liver?"),
        ("turmeric", "turmeric"),
    ],
)
def test_the_words_that_are_known_are_translated_in_their_places(question, english):
    assert parse_question(question).english == english


def test_words_that_say_nothing_are_neither_looked_up_nor_reported():
    it = parse_question("ผลของขิงต่ออาการคลื่นไส้เป็นอย่างไร")
    assert it.english.startswith("ginger Zingiber officinale")
    assert it.unknown == ()
    assert "=ของ" not in dict(it.thai)


def test_what_the_dictionary_does_not_have_is_reported_and_looked_up_in_thai():
    it = parse_question("รถไฟฟ้ากับโรคหัวใจ")
    assert it.unknown == ("รถไฟฟ้า",)
    assert it.english == "heart diseases"
    assert dict(it.terms)["=รถไฟฟ้า"] == 1.0


def test_a_question_without_a_known_word_has_no_english():
    it = parse_question("รถไฟฟ้า")
    assert (it.english, it.unknown) == ("", ("รถไฟฟ้า",))
    assert it.terms == it.thai


def test_the_grams_of_a_word_weigh_half_of_it_together():
    terms = dict(parse_question("ขมิ้นชัน").thai)
    assert terms.pop("=ขมิ้นชัน") == 1.0
    assert sum(terms.values()) == pytest.approx(0.5)


def test_a_question_that_is_declared_english_stays_as_it_is():
    it = parse_question("ขมิ้นชัน liver", "en")
    assert (it.english, it.thai) == ("ขมิ้นชัน liver", ())


def test_what_makes_a_sentence_a_question_is_no_word_to_look_up():
    for particle in ("ไหม", "มั้ย", "หรือเปล่า"):
        assert parse_question(f"ขมิ้นชันลดการอักเสบ{particle}").unknown == ()


def added(query):
    return {term for term, weight in query_terms(query, expansion) if weight == WEIGHT}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("heart attack", {"myocardi", "infarct"}),
        ("breast cancer and statins", {"neoplasm"}),
        ("high blood pressure", {"hypertens"}),
        ("stroke", {"cerebrovascular"}),
    ],
)
def test_another_name_of_a_disease_is_added_with_less_weight(query, found):
    assert found <= added(query)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("aspirin after a heart attack", ["myocardial infarction"]),
        ("Heart attacks and high blood pressure", ["myocardial infarction", "hypertension"]),
        ("a blood clot in the lung", ["pulmonary embolism"]),  # the longest name
        ("Tylenol for fever", ["acetaminophen"]),
        ("shell shocked", ["post-traumatic stress disorder"]),
        ("myocardial infarction", []),
        ("attack of the heart", []),
        ("", []),
    ],
)
def test_an_everyday_name_is_called_what_papers_call_it(question, names):
    assert names_in_papers([term for term, _ in query_terms(question)]) == names


def test_no_everyday_name_stands_twice_or_is_what_papers_say():
    lines = files("bio_mcp.retrieval").joinpath("everyday.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    assert [len(row) for row in rows] == [2] * len(rows)
    everyday = [tuple(term for term, _ in query_terms(name)) for name, _ in rows]
    assert len(set(everyday)) == len(everyday)
    assert all(0 < len(terms) <= 4 for terms in everyday)
    said = {tuple(term for term, _ in query_terms(name)) for _, names in rows for name in names.split(", ")}
    assert not said & set(everyday)


def test_the_order_of_words_in_a_name_does_not_matter_and_the_longest_name_wins():
    assert added("pressure, high blood") == added("high blood pressure") != set()
    assert "mammari" in added("breast cancer")
    assert "mammari" not in added("cancer")


def test_words_of_the_query_keep_their_own_weight():
    weights = dict(query_terms("heart attack infarction", expansion))
    assert (weights["infarct"], weights["myocardi"]) == (1, WEIGHT)


def test_a_query_that_names_nothing_stays_as_it_is_and_one_of_everything_gets_a_bounded_number_of_terms():
    assert expansion(["leucin", "qwertz"]) == []
    assert len(expansion([term for name in list(concepts())[:500] for term in name])) <= EXTRA_TERMS
