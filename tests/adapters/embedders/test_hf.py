import importlib.util
import json
from pathlib import Path

import pytest

from bio_mcp.adapters.embedders.hf import TORCH_FILES, HfEmbeddings
from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED, TOKENIZER, Identity, sha256_of
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
