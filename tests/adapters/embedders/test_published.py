"""What the files of sentence-transformers' layout say of a model."""

import json

import numpy as np
import pytest

from bio_mcp.adapters.embedders.installed import sha256_of
from bio_mcp.adapters.embedders.published import layout_of
from tests.adapters.embedders.safetensors_files import write

TOKENS = {"word_embedding_dimension": 8, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
MATRIX, BIAS = np.ones((12, 8), np.float32), np.arange(12, dtype=np.float32)


@pytest.fixture
def source(tmp_path):
    """A model with one layer after the pooling."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense", "3_Normalize": "Normalize"}
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds.items()]
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "2_Dense").mkdir()
    put(tmp_path / "modules.json", modules)
    put(tmp_path / "1_Pooling/config.json", TOKENS)
    put(tmp_path / "2_Dense/config.json", {"in_features": 8, "out_features": 12, "activation_function": "x.Identity"})
    write(tmp_path / "2_Dense/model.safetensors", {"linear.weight": MATRIX, "linear.bias": BIAS})
    put(tmp_path / "sentence_bert_config.json", {"max_seq_length": 512})
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "tokenizer.json").write_text("{}")
    return tmp_path


def put(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")


def test_pooling_layers_limit_and_prompts_are_read(source):
    prompts = {"query": "Find passages: ", "document": "Passage: "}
    put(source / "config_sentence_transformers.json", {"prompts": prompts})
    layout = layout_of(source)
    assert (layout.pooling, layout.dim, layout.max_tokens) == ("mean", 12, 512)
    identity = layout.identity(source, "m")
    assert (identity.prefix, identity.before_questions) == ("Passage: ", "Find passages: ")
    assert identity.projection_sha256 == sha256_of(source / "2_Dense/model.safetensors")
    head = layout.head()
    assert np.array_equal(head.dense[0].matrix, MATRIX)
    assert np.array_equal(head.dense[0].bias, BIAS)
    assert head.dim(8) == 12


@pytest.mark.parametrize("config", [{"pooling_mode": "cls"}, {"pooling_mode_cls_token": True}], ids=["named", "flag"])
def test_pooling_may_be_named_or_flagged(source, config):
    put(source / "1_Pooling/config.json", {"embedding_dimension": 8, **config})
    assert layout_of(source).pooling == "cls"


def test_without_prompts_nothing_stands_before_a_text(source):
    put(source / "config_sentence_transformers.json", {"prompts": {"query": "", "document": ""}})
    identity = layout_of(source).identity(source, "m")
    assert (identity.prefix, identity.before_questions, identity.question_prefix) == ("", "", None)


@pytest.mark.parametrize(
    "config",
    [
        {"pooling_mode_max_tokens": True},
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
        {"pooling_mode_mean_tokens": True, "include_prompt": False},
        {"pooling_mode": "lasttoken"},
        {},
    ],
    ids=["max", "both", "without prompt", "last", "none"],
)
def test_another_pooling_is_refused(source, config):
    put(source / "1_Pooling/config.json", {"word_embedding_dimension": 8, **config})
    with pytest.raises(ValueError, match="pooling"):
        layout_of(source)


def test_a_layer_with_another_function_is_refused(source):
    put(source / "2_Dense/config.json", {"out_features": 12, "activation_function": "torch.nn.GELU"})
    with pytest.raises(ValueError, match="GELU"):
        layout_of(source).head()


@pytest.mark.parametrize("path", ["../elsewhere", "/etc", "a/b", ""])
def test_a_module_outside_the_model_s_directory_is_not_read(source, path):
    put(source / "modules.json", [{"path": path, "type": "st.Pooling"}])
    with pytest.raises(ValueError, match="directory"):
        layout_of(source)
