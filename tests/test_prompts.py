"""Prompts: a person's words before the skill that answers them."""

import pytest

from bio_mcp.doors.mcp.prompts import LONGEST_FILLED_IN, PROMPTS
from bio_mcp.errors import InvalidInput
from bio_mcp.skills import NAMES, skill

QUESTION = PROMPTS["clinical_question"]


def test_there_are_three_and_each_has_a_skill():
    assert len(PROMPTS) == 3
    assert {each.skill for each in PROMPTS.values()} <= set(NAMES)


def test_the_text_has_what_was_filled_in_and_then_the_whole_skill():
    text = QUESTION.text({"question": "Does ginger help?", "project": "thesis"})
    assert text.startswith("Question: Does ginger help?\nProject: thesis\n")
    assert text.endswith(skill("answer-clinical-question").text)
    assert "license:" not in text


def test_what_is_not_filled_in_is_left_out():
    assert "Project:" not in QUESTION.text({"question": "Does ginger help?", "project": " "})


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "clinical_question needs question"),
        ({"question": "  "}, "clinical_question needs question"),
        ({"question": "x", "topic": "y"}, "has no argument 'topic'; it takes question, project"),
        ({"question": "x" * (LONGEST_FILLED_IN + 1)}, "question is longer than 4,000 characters"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_what_to_give(given, problem):
    with pytest.raises(InvalidInput, match=problem):
        QUESTION.text(given)


def test_characters_that_nobody_sees_are_replaced():
    text = QUESTION.text({"question": "Does ginger\u202e help\ud800?"})
    assert "Does ginger\N{REPLACEMENT CHARACTER} help\N{REPLACEMENT CHARACTER}?" in text
