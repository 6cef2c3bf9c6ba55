"""Models of sentence-transformers, and what identifies any model."""

import importlib.util
import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from bio_mcp.adapters.embedders.hf import TORCH_FILES, HfEmbeddings
from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED, PASSAGE_PREFIX, TOKENIZER, Identity, sha256_of
from bio_mcp.errors import EmbeddingFailed


def published(directory: Path) -> Path:
    (directory / "1_Pooling").mkdir(parents=True)
    modules = [{"path": "", "type": "st.Transformer"}, {"path": "1_Pooling", "type": "st.Pooling"}]
    pooling = {"word_embedding_dimension": 384, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    (directory / "modules.json").write_text(json.dumps(modules))
    (directory / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (directory / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 256}))
    (directory / "model.safetensors").write_bytes(b"weights")
    (directory / TOKENIZER).write_bytes((PACKAGED / DEFAULT / TOKENIZER).read_bytes())
    return directory


def test_the_identity_is_read_off_the_published_files_without_loading_the_model(tmp_path):
    model = HfEmbeddings(published(tmp_path / "some-model"))
    weights, tokenizer = (sha256_of(tmp_path / "some-model" / name) for name in ("model.safetensors", TOKENIZER))
    assert model.fingerprint == Identity("some-model", weights, tokenizer, 384, 256).fingerprint
    assert (model.dim, model.max_tokens) == (384, 256)


def test_the_published_files_may_stand_beside_the_graph(tmp_path, packaged):
    published(tmp_path / "some-model" / TORCH_FILES)
    model = HfEmbeddings(tmp_path / "some-model")
    assert model.fingerprint.startswith("some-model/fp32/")
    assert model.count_tokens(["aspirin", ""]) == packaged.count_tokens(["aspirin", ""])


@pytest.mark.parametrize("missing", ["model.safetensors", TOKENIZER, "1_Pooling/config.json"])
def test_a_missing_file_is_a_failure_that_names_no_path(tmp_path, missing):
    (published(tmp_path / "m") / missing).unlink()
    with pytest.raises(EmbeddingFailed, match=r"BIO_MCP_MODELS|damaged") as caught:
        HfEmbeddings(tmp_path / "m").embed(["aspirin"])
    assert not caught.value.retryable
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("content", ["", "[1]", "{"])
def test_a_broken_layout_is_a_damaged_model(tmp_path, content):
    (published(tmp_path / "m") / "modules.json").write_text(content)
    with pytest.raises(EmbeddingFailed, match="damaged"):
        assert HfEmbeddings(tmp_path / "m").dim


def test_without_weights_that_load_nothing_is_embedded(tmp_path):
    reported = "damaged" if importlib.util.find_spec("sentence_transformers") else r"bio-mcp\[hf\]"
    with pytest.raises(EmbeddingFailed, match=reported) as caught:
        HfEmbeddings(published(tmp_path / "m")).embed(["aspirin"])
    assert not caught.value.retryable


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
