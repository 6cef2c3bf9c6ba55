from dataclasses import fields, replace

import pytest

from bio_mcp.adapters.embedders.model_files import PASSAGE_PREFIX, Identity

ALL_MINILM_L6_V2 = Identity(  # the default model of former versions: its indexes must stay valid
    model_id="all-MiniLM-L6-v2",
    weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    tokenizer_sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    dim=384,
    max_tokens=256,
)
E5 = Identity("e5-small", "weights", "tokenizer", 384, 512, prefix=PASSAGE_PREFIX)


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


def test_questions_have_the_prompt_that_their_model_was_trained_with():
    assert ALL_MINILM_L6_V2.before_questions == ""
    assert E5.before_questions == "query: "
    assert replace(ALL_MINILM_L6_V2, prefix="text: ").before_questions == "text: "
    assert replace(E5, question_prefix="").before_questions == ""


@pytest.mark.parametrize("prefix", ["", "query: ", "Find: "])
@pytest.mark.parametrize("model", [ALL_MINILM_L6_V2, E5], ids=["minilm", "e5"])
def test_equal_prompts_have_equal_identities(model, prefix):
    asked = model.asked_with(prefix)
    assert asked.before_questions == prefix
    assert (asked == model) == (prefix == model.before_questions)
