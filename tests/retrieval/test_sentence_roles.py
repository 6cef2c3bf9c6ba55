"""What the sentences of an abstract are, by the labels of its sections or without them."""

from dataclasses import replace

import pytest

from bio_mcp.literature.records import AbstractSection
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.sentence_roles import (
    CLASSES,
    Role,
    classified,
    probabilities,
    role_of_section,
    sentences,
    shipped,
)
from tests.support.memory_corpus import article

UNLABELLED = (
    "Nausea is common in pregnancy, and its treatment is controversial. The aim of this study was to assess ginger. "
    "We randomly assigned 120 women to ginger or placebo. Nausea scores were measured daily for one week. "
    "Scores were significantly lower in the ginger group (P = 0.01). Adverse events did not differ (12% vs 11%). "
    "In conclusion, ginger may be an effective treatment of nausea in pregnancy."
)


def paper(*sections):
    return replace(article("1", "A trial."), abstract=tuple(AbstractSection(*each) for each in sections))


def test_without_labels_the_words_and_the_place_say_what_a_sentence_is():
    assert [each.role for each in sentences(paper((None, None, UNLABELLED)))] == [
        "background",
        "background",
        "method",
        "method",
        "result",
        "result",
        "conclusion",
    ]


@pytest.mark.parametrize(
    ("label", "category", "role"),
    [
        ("RESULTS", "RESULTS", Role.RESULT),
        ("Findings", None, Role.RESULT),
        ("CASE PRESENTATION", "METHODS", Role.RESULT),
        ("CONCLUSIONS AND RELEVANCE", None, Role.CONCLUSION),
        ("MATERIALS AND METHODS", None, Role.METHOD),
        ("Aims", "UNASSIGNED", Role.BACKGROUND),
        ("TRIAL REGISTRATION", "BACKGROUND", Role.OTHER),
        ("METHODS AND RESULTS", "RESULTS", None),
        ("WHAT WE SAW", "RESULTS", Role.RESULT),
        (None, None, None),
    ],
)
def test_a_label_says_what_its_section_is_and_else_nlms_category(label, category, role):
    assert role_of_section(AbstractSection(label, category, "Text.")) is role


def test_a_label_within_a_text_is_left_out_of_its_sentence_and_holds_until_the_next():
    text = "Aims: Nausea is common. It is unpleasant. Results: Ginger helped. Headache did not change."
    made = paper((None, None, text))
    assert [(each.text, each.role) for each in sentences(made)] == [
        ("Nausea is common.", "background"),
        ("It is unpleasant.", "background"),
        ("Ginger helped.", "result"),
        ("Headache did not change.", "result"),
    ]
    assert all(abstract_text(made)[each.start : each.end] == each.text for each in sentences(made))


@pytest.mark.parametrize(
    ("sentence", "role"),
    [
        ("Previous studies have shown that ginger reduces nausea.", "secondary"),
        ("It has been reported that ginger reduces nausea.", "secondary"),
        ("Several earlier trials found less nausea with ginger.", "secondary"),
        ("Ginger reduced nausea, as earlier trials did not expect.", "conclusion"),
    ],
)
def test_what_others_found_is_secondary(sentence, role):
    [found] = sentences(paper(("CONCLUSION", "CONCLUSIONS", sentence)))
    assert found.role == role


def test_probabilities_add_up_to_one_however_long_or_odd_an_abstract_is():
    for texts in ([UNLABELLED], ["?"], ["a " * 5_000] * 3, UNLABELLED.split(". ") * 40):
        assert [sum(each) for each in probabilities(texts)] == pytest.approx([1.0] * len(texts))
    assert (probabilities([]), classified([])) == ([], [])


def test_it_was_right_on_abstracts_that_it_was_not_fitted_to():
    measured = shipped()["held_out"]
    assert measured["abstracts"] >= 1_000
    assert measured["finding_or_not_right"] >= 0.95
    assert all(len(row) == len(CLASSES) for row in shipped()["weights"].values())
