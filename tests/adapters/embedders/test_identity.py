from dataclasses import fields, replace

import pytest

from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2, MULTILINGUAL_E5_SMALL


def other(value):
    if value is None:
        return "x"
    return (not value) if isinstance(value, bool) else value + (1 if isinstance(value, int) else "x")


@pytest.mark.parametrize("field", [field.name for field in fields(ALL_MINILM_L6_V2)])
def test_anything_that_moves_a_vector_changes_the_fingerprint(field):
    changed = replace(ALL_MINILM_L6_V2, **{field: other(getattr(ALL_MINILM_L6_V2, field))})
    assert changed.fingerprint != ALL_MINILM_L6_V2.fingerprint


def test_indexes_that_were_made_before_questions_had_a_prompt_stay_valid():
    assert ALL_MINILM_L6_V2.fingerprint == "all-MiniLM-L6-v2/fp32/e35ab1bcfb8ff107"
    assert MULTILINGUAL_E5_SMALL.fingerprint == "multilingual-e5-small/int4/4b7324eabc9162af"


def test_questions_have_the_prompt_that_their_model_was_trained_with():
    assert ALL_MINILM_L6_V2.before_questions == ""
    assert MULTILINGUAL_E5_SMALL.before_questions == "query: "
    assert replace(ALL_MINILM_L6_V2, prefix="text: ").before_questions == "text: "
    assert replace(MULTILINGUAL_E5_SMALL, question_prefix="").before_questions == ""


@pytest.mark.parametrize("prefix", ["", "query: ", "Find: "])
@pytest.mark.parametrize("model", [ALL_MINILM_L6_V2, MULTILINGUAL_E5_SMALL], ids=["minilm", "e5"])
def test_equal_prompts_have_equal_identities(model, prefix):
    asked = model.asked_with(prefix)
    assert asked.before_questions == prefix
    assert (asked == model) == (prefix == model.before_questions)
