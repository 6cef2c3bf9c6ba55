"""A cross-encoder made for the test, installed and run, beside plain numpy."""

import numpy as np
import pytest

from bio_mcp.adapters.embedders.model_files import GRAPH
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.adapters.embedders.own_models import Wanted
from bio_mcp.adapters.rerankers.onnx import OnnxReranker, add_reranker
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, EmbeddingFailed, InvalidInput
from tests.adapters.embedders.tiny_model import published as embedding_model
from tests.adapters.embedders.tiny_model import published_reranker as published
from tests.adapters.embedders.tiny_model import score

QUESTION = "ginger nausea"
PASSAGES = [
    "ginger of the heart",
    "liver",
    "",
    "trial in mice : nausea of the heart cell rate , liver .",
    "cell \ud800",
]


@pytest.fixture
def source(tmp_path):
    return published(tmp_path / "tiny")


@pytest.fixture
def models(tmp_path):
    return tmp_path / "models"


@pytest.fixture
def reranker(source, models):
    add_reranker(source, models, Wanted())
    return OnnxReranker(models / "tiny")


def test_scores_are_those_of_its_weights_in_the_order_of_the_passages(reranker):
    expected = [score(QUESTION, each.encode("utf-8", "replace").decode()) for each in PASSAGES]
    assert np.abs(np.array(reranker.scores(QUESTION, PASSAGES, NEVER)) - expected).max() <= 1e-4


def test_a_score_does_not_depend_on_what_is_scored_beside_it(reranker):
    together = reranker.scores(QUESTION, PASSAGES * 20, NEVER)
    alone = [reranker.scores(QUESTION, [each], NEVER)[0] for each in PASSAGES]
    assert np.abs(np.array(together) - alone * 20).max() <= 1e-5


def test_it_ends_with_its_time(source, models):
    add_reranker(source, models, Wanted())
    with pytest.raises(DeadlineExceeded):
        OnnxReranker(models / "tiny", patience_s=0).scores(QUESTION, PASSAGES, NEVER)
    with pytest.raises(DeadlineExceeded):
        OnnxReranker(models / "tiny").scores(QUESTION, PASSAGES, Deadline(0))


def test_a_file_that_was_changed_is_refused(reranker, models):
    (models / "tiny" / GRAPH).write_bytes(b"harmed")
    with pytest.raises(EmbeddingFailed, match="damaged"):
        reranker.scores(QUESTION, PASSAGES, NEVER)


def test_neither_kind_of_model_is_taken_for_the_other(reranker, models, tmp_path):
    with pytest.raises(EmbeddingFailed, match="is a reranker"):
        OnnxEmbeddings(models / "tiny")
    with pytest.raises(EmbeddingFailed, match="not on this machine"):
        OnnxReranker(models / "other")
    assert reranker.fingerprint.startswith("tiny/onnx/")


def refusal(source, models, **more):
    with pytest.raises(InvalidInput) as refused:
        add_reranker(source, models, Wanted(**more))
    assert str(models.parent) not in str(refused.value)
    return str(refused.value)


def test_what_is_no_reranker_is_refused_and_nothing_is_left(source, models, tmp_path):
    assert "one score" in refusal(embedding_model(tmp_path / "embedding"), models)
    assert "one score" in refusal(published(tmp_path / "labels", labels=3), models)
    assert "SHA-256" in refusal(source, models, sha256="0" * 64)
    (source / "model.onnx").unlink()
    assert "model.onnx" in refusal(source, models)
    assert not models.exists()


def test_another_reranker_of_its_name_is_refused(reranker, models, tmp_path):
    other = published(tmp_path / "other" / "tiny")
    (other / "tokenizer.json").write_text((other / "tokenizer.json").read_text() + "\n")
    assert "installed already" in refusal(other, models)
