"""A question in Thai or English, as it is looked up."""

import pytest

from bio_mcp.retrieval.question import parse_question


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
    assert (it.english, it.is_thai, it.unknown) == ("", True, ("รถไฟฟ้า",))
    assert it.terms == it.thai


def test_the_grams_of_a_word_weigh_half_of_it_together():
    terms = dict(parse_question("ขมิ้นชัน").thai)
    assert terms.pop("=ขมิ้นชัน") == 1.0
    assert sum(terms.values()) == pytest.approx(0.5)


def test_a_question_that_is_declared_english_stays_as_it_is():
    it = parse_question("ขมิ้นชัน liver", "en")
    assert (it.english, it.is_thai) == ("ขมิ้นชัน liver", False)


def test_what_makes_a_sentence_a_question_is_no_word_to_look_up():
    assert [parse_question(f"ขมิ้นชันลดการอักเสบ{particle}").unknown for particle in ("ไหม", "มั้ย", "หรือเปล่า")] == [
        (),
        (),
        (),
    ]
