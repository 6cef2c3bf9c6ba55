"""What sentences state, deny and leave open, section by section, and which node a name stands for."""

import pytest

from bio_mcp.extracting.statements import LONGEST, findings_of
from bio_mcp.literature.documents import ParsedDocument, ParsedSection, SectionKind
from tests.extracting.graph_names import gazetteer

NAMES = gazetteer()


def read(*sections):
    made = (each if isinstance(each, ParsedSection) else ParsedSection(each) for each in sections)
    return findings_of(ParsedDocument(tuple(made)), NAMES.find)


def stated(*sections):
    found = read(*sections).statements
    return [(each.from_id, each.edge.value, each.to_id) for each in found if each.problem is None]


def problems(text):
    return [each.problem for each in read(text).statements]


CLEAR = {
    "Turmeric (Curcuma longa) is contraindicated in patients with gallstones.": [
        ("turmeric", "contraindicated_with", "gallstones")
    ],
    "Ginger and galangal should not be taken together with warfarin.": [
        ("ginger", "contraindicated_with", "warfarin"),
        ("galangal", "contraindicated_with", "warfarin"),
    ],
    "Warfarin must be avoided during pregnancy.": [("warfarin", "contraindicated_with", "pregnancy")],
    "Pregnancy is a contraindication to ginger.": [("ginger", "contraindicated_with", "pregnancy")],
    "Contraindications to turmeric include gallstones and pregnancy.": [
        ("turmeric", "contraindicated_with", "gallstones"),
        ("turmeric", "contraindicated_with", "pregnancy"),
    ],
    "It is well known that ginger extract interacts with warfarin in humans.": [
        ("ginger", "interacts_with", "warfarin")
    ],
    "An interaction between ginger and warfarin has been reported.": [("ginger", "interacts_with", "warfarin")],
    "Ginger is traditionally used to treat dyspepsia.": [("ginger", "treats", "dyspepsia")],
    "Ginger was effective for the treatment of acute dyspepsia.": [("ginger", "treats", "dyspepsia")],
    "Turmeric contains curcumin.": [("turmeric", "has_constituent", "curcumin")],
    "Curcumin is the major active constituent of turmeric.": [("turmeric", "has_constituent", "curcumin")],
    "Ya Hom consists of ginger, galangal and turmeric.": [
        ("mixture", "contains", "ginger"),
        ("mixture", "contains", "galangal"),
        ("mixture", "contains", "turmeric"),
    ],
    "ขมิ้นชันห้ามใช้ในหญิงตั้งครรภ์": [("turmeric", "contraindicated_with", "pregnancy")],
    "ขิงช่วยบรรเทาอาการท้องอืด": [("ginger", "treats", "dyspepsia")],
    "ขมิ้นชัน (Curcuma longa L.) เป็นสมุนไพรไทยที่ใช้บรรเทาอาการท้องอืด และอาหารไม่ย่อย": [
        ("turmeric", "treats", "dyspepsia"),
    ],
    "Ginger has been shown to be effective in the treatment of dyspepsia, while liver cancer was indicated.": [
        ("ginger", "treats", "dyspepsia")
    ],
}


@pytest.mark.parametrize(("sentence", "edges"), CLEAR.items())
def test_a_sentence_with_clear_words_states_the_relation(sentence, edges):
    assert stated(sentence) == edges


@pytest.mark.parametrize(
    "sentence",
    [
        "Turmeric is not contraindicated in pregnancy.",
        "No interaction between ginger and warfarin has been reported.",
        "It is false that ginger interacts with warfarin.",
        "Ginger does not treat dyspepsia.",
        "That ginger interacts with warfarin, is unlikely.",
        "ไม่พบว่าขิงใช้รักษาท้องอืด",
    ],
)
def test_a_sentence_that_denies_anything_writes_nothing_and_is_seen(sentence):
    assert problems(sentence) == ["the sentence denies something"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Ginger may interact with warfarin.",
        "We tested whether ginger interacts with warfarin.",
        "Some authors suggest that turmeric is contraindicated in pregnancy.",
        "Is it true that ginger interacts with warfarin?",
        "ขิงใช้รักษาท้องอืดหรือไม่",
    ],
)
def test_a_sentence_that_guesses_or_asks_writes_nothing(sentence):
    assert stated(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Unlike ginger, galangal interacts with warfarin.",
        "Users of ginger should not be given warfarin.",
        "Ginger treats dyspepsia symptoms.",
        "Ginger interacts with warfarin-like drugs.",
        "Ginger, warfarin and gallstones were studied.",
        "Gallstones contain ginger.",
        "Ginger contains pregnancy.",
        "Ginger interacts with ginger.",
    ],
)
def test_words_that_do_not_fit_whole_and_nodes_of_other_kinds_state_nothing(sentence):
    assert read(sentence).statements == ()


def test_a_statement_is_quoted_letter_by_letter_with_its_place_in_the_document():
    text = "Nothing here.\nBriefly, ginger  interacts with WARFARIN. More."
    document = ParsedDocument((ParsedSection("Before."), ParsedSection(text)))
    [statement] = findings_of(document, NAMES.find).statements
    assert statement.quote == "Briefly, ginger  interacts with WARFARIN."
    assert document.text[statement.start : statement.end] == statement.quote


def test_a_name_of_several_nodes_keeps_them_all_and_states_nothing():
    found = read("Ginseng interacts with warfarin.")
    assert [each.node.node_id for each in found.mentions[0].linked.candidates] == ["american", "panax"]
    assert found.mentions[0].linked.reason == "the first by id: nothing tells them apart"
    assert found.statements[0].problem == "'Ginseng' may be american or panax"


def test_a_document_that_names_one_of_them_otherwise_makes_it_certain():
    found = read("Panax ginseng was bought. Ginseng interacts with warfarin.")
    assert stated("Panax ginseng was bought. Ginseng interacts with warfarin.") == [
        ("panax", "interacts_with", "warfarin")
    ]
    assert "by another name too" in found.mentions[1].linked.reason
    assert stated("Panax ginseng, American ginseng. Ginseng interacts with warfarin.") == []


def test_of_a_condition_that_is_both_an_indication_and_a_contraindication_the_relation_decides():
    mentions = read("Turmeric is contraindicated in pregnancy.").mentions
    assert [each.node.node_id for each in mentions[1].linked.candidates] == ["pregnancy", "pregnant"]
    assert stated("Turmeric is contraindicated in pregnancy.") == [("turmeric", "contraindicated_with", "pregnancy")]


STATEMENT = "Ginger interacts with warfarin."


@pytest.mark.parametrize("heading", ["Results", "3.2 Discussion", "Conclusion", "Safety", None])
def test_sections_that_tell_what_is_known_may_state(heading):
    assert stated(ParsedSection(STATEMENT, heading, (heading,) if heading else ()))


@pytest.mark.parametrize(
    "section",
    [
        ParsedSection(STATEMENT, "Methods", ("Methods",)),
        ParsedSection(STATEMENT, "Statistics", ("2 Materials and methods", "Statistics")),
        ParsedSection(STATEMENT, "Objective", ("Objective",)),
        ParsedSection(STATEMENT, "วิธีการวิจัย", ("วิธีการวิจัย",)),
        ParsedSection(STATEMENT, kind=SectionKind.TABLE),
        ParsedSection(STATEMENT, kind=SectionKind.NOTE),
    ],
)
def test_what_was_asked_and_done_is_mentioned_and_not_stated(section):
    found = read(section)
    assert (len(found.mentions), found.statements) == (2, ())


@pytest.mark.parametrize(
    "section",
    [
        ParsedSection(STATEMENT, kind=SectionKind.REFERENCES),
        ParsedSection(STATEMENT, "Acknowledgements", ("Acknowledgements",)),
        ParsedSection(STATEMENT, "References", ("References",)),
    ],
)
def test_titles_of_other_works_and_thanks_are_not_read(section):
    assert read(section).mentions == ()


def test_what_is_denied_is_a_mention_that_says_so():
    found = read("There was no dyspepsia, but gallstones were seen; warfarin was ruled out.").mentions
    assert [(each.text, each.denied) for each in found] == [
        ("dyspepsia", True),
        ("gallstones", False),
        ("warfarin", True),
    ]
    assert not read("Ginger treats not only dyspepsia.").mentions[1].denied


def test_a_text_without_ends_of_sentences_states_nothing():
    assert stated(f"{'word ' * (LONGEST // 5)} and {STATEMENT}") == []
