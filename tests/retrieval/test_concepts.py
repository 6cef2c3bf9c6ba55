"""What a question is about, and whether a paper has it."""

from dataclasses import replace
from importlib.resources import files

import pytest

from bio_mcp.literature.records import MeshHeading
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.concepts import PaperWords, asked_about
from tests.support.memory_corpus import article


def paper(title="A study.", text="", **more):
    return PaperWords(replace(article("1", title, text), **more))


def named(question, *papers):
    return [each.text for each in asked_about(question, papers).concepts]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Does acarbose help against migraine?", ["acarbose", "migraine"]),
        ("statins and COVID-19", ["statins", "COVID-19"]),
        ("How sensitive is ultrasound for invasive breast cancer?", ["breast cancer"]),
        ("What is the effect of treatment in patients?", []),
    ],
)
def test_diseases_and_drugs_are_what_a_question_is_about_and_frequent_words_are_not(question, names):
    assert named(question) == names


def test_another_name_of_a_thing_is_the_thing():
    [attack] = asked_about("heart attack").concepts
    assert paper(text="Myocardial infarction was frequent.").has(attack)
    assert not paper(text="Heart failure was frequent. Panic attacks were not.").has(attack)


def test_abbreviations_are_known_both_ways_from_the_papers():
    defining = paper(text="We studied chronic thromboembolic pulmonary hypertension (CTEPH).")
    assert named("Who gains from surgery in CTEPH?", defining) == ["CTEPH"]
    [short] = asked_about("Who gains from surgery in CTEPH?", [defining]).concepts
    assert paper(text="Surgery for chronic thromboembolic pulmonary hypertension.").has(short)
    [long] = asked_about("chronic thromboembolic pulmonary hypertension", [defining]).concepts
    assert paper(text="Surgery of CTEPH.").has(long)


def test_keywords_and_headings_of_the_papers_are_names():
    deep = paper(keywords=("deep learning",), mesh=(MeshHeading("D1", "Electrocardiography, Ambulatory"),))
    assert named("deep learning of the ECG", deep) == ["deep learning"]
    assert named("electrocardiography", deep) == []
    assert paper(keywords=("Deep Learning",)).has(asked_about("deep learning", [deep]).concepts[0])


def test_the_words_of_a_name_stand_in_one_sentence():
    [calcification] = asked_about("vascular calcification").concepts
    assert paper(text="Calcification that was vascular grew.").has(calcification)
    assert not paper(text="Calcification was seen. Vascular access failed.").has(calcification)


@pytest.mark.parametrize(("word", "has"), [("Germany", 1.0), ("vaccine", 1.0), ("Spain", 0.0), ("radon", 0.0)])
def test_a_word_is_shared_in_any_of_its_forms(word, has):
    assert paper(text="German children were vaccinated.").share(asked_about(word).words) == has


@pytest.mark.parametrize(
    ("question", "listed"),
    [
        ("Does dust cause arthritis or cancer?", True),
        ("Blood clots after surgery, in children and in cancer", True),
        ("acupuncture and migraine", False),
        ("Does ginger, an old remedy, help?", True),
    ],
)
def test_a_list_is_told_from_a_pair(question, listed):
    assert asked_about(question).listed is listed


def test_nothing_is_asked_by_no_words():
    assert asked_about("?!") == asked_about("")
    assert paper().share(()) == 0


@pytest.mark.parametrize(
    ("question", "has", "lacks"),
    [
        ("in pregnant women", "Maternal care of every mother.", "Women after menopause."),
        ("in children", "Paediatric wards were full.", "Wards of adults were full."),
        ("in the elderly", "Adults of old age took part.", "Adults took part."),
        ("incidence in Spain", "A Spanish registry.", "A Bosnian registry."),
        ("Does it lower mortality?", "Survivors were few.", "Blood pressure fell."),
    ],
)
def test_people_places_and_death_are_asked_for_though_many_papers_name_them(question, has, lacks):
    concepts = asked_about(question).concepts
    assert concepts
    assert all(paper(text=has).has(each) for each in concepts)
    assert not all(paper(text=lacks).has(each) for each in concepts)


def test_a_kind_of_a_thing_is_not_the_thing():
    [persistent] = asked_about("persistent atrial fibrillation").concepts
    assert paper(text="Persistent auricular fibrillation was ablated.").has(persistent)
    assert not paper(text="Paroxysmal atrial fibrillation was ablated.").has(persistent)
    [hyphenated] = asked_about("interleukin-2").concepts
    assert paper(text="IL-2 rose.").has(hyphenated)


@pytest.mark.parametrize(
    ("question", "compared"),
    [
        ("Are stents better than bypass surgery for angina?", ["bypass surgery"]),
        ("alpha probes versus beta probes in theatre", ["beta probes"]),
        ("Is it better than before?", []),
        ("Is more better than less?", []),
    ],
)
def test_what_a_thing_is_compared_with_is_asked_for(question, compared):
    assert [each.text for each in asked_about(question).concepts if each.loose] == compared


def test_what_is_compared_may_stand_in_like_forms_anywhere():
    [bypass] = [each for each in asked_about("better than bypass grafting").concepts if each.loose]
    assert paper(text="A bypass was chosen. The graft failed.").has(bypass)
    assert not paper(text="The graft failed.").has(bypass)


def test_two_words_of_a_title_are_a_name():
    elastography = paper("Ultrasound elastography in the diagnosis of nodes")
    assert named("ultrasound elastography in breast lumps", elastography) == ["ultrasound elastography"]
    assert named("diagnosis of nodes", elastography) == []


def test_no_name_of_people_places_and_death_is_asked_for_in_two_rows():
    lines = files("bio_mcp.retrieval").joinpath("asked_also.tsv").read_text("utf-8").splitlines()
    assert all(line.count("\t") == 1 for line in lines)
    asked = [tuple(analyse(name)) for line in lines for name in line.partition("\t")[0].split(", ")]
    assert len(set(asked)) == len(asked)
    assert all(asked)
