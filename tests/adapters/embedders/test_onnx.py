from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from bio_mcp.adapters.embedders.model_files import (
    DEFAULT,
    GRAPH,
    PACKAGED,
    QUESTION_GRAPH,
    TOKENIZER,
    Identity,
    read_manifest,
    samples,
    write_manifest,
)
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings, batches
from bio_mcp.errors import EmbeddingFailed
from tests.adapters.embedders.tiny_model import HIDDEN, encoder, token_vectors, tokenizer, unit

MODEL = PACKAGED / DEFAULT
WORDS = "of in mice cell IL-6 sepsis randomised TNF-α 5 µg/kg, p < 0.05; insulin heart 84 % GLP-1R β-blocker"


def sentences(count: int, longest: int, seed: int = 7) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS.split(), size=rng.integers(1, longest))) for _ in range(count)]


def test_vectors_are_those_of_the_release(packaged):
    texts, expected = samples()
    assert np.einsum("ij,ij->i", packaged.embed(texts), expected).min() >= 0.9995
    order = np.random.default_rng(3).permutation(len(texts))
    assert np.array_equal(packaged.embed([texts[i] for i in order]), packaged.embed(texts)[order])


def test_a_question_has_the_prompt_that_the_model_was_trained_with(packaged):
    asked = packaged.embed_questions(["does ginger help?"])
    plain = packaged.embed(["Represent this sentence for searching relevant passages: does ginger help?"])
    assert np.abs(asked - plain).max() <= 1e-6


@pytest.mark.parametrize("budget", [300, 20_001])
def test_a_vector_does_not_depend_on_what_is_embedded_with_it_nor_on_threads(packaged, budget):
    texts = sentences(24, 60)
    alone = np.concatenate([packaged.embed([text]) for text in texts])
    together = OnnxEmbeddings(MODEL, threads=1 + budget % 2, tokens_per_batch=budget).embed(texts)
    assert np.abs(together - alone).max() <= 1e-6


def test_a_text_beyond_the_limit_is_read_up_to_it_and_no_further(packaged):
    words = ["heart"] * 510
    fits, longer = " ".join(words), " ".join([*words, "kidney", "liver"])
    shorter = " ".join(words[:126])
    assert packaged.count_tokens([fits, longer]) == [512, 514]
    at_limit, beyond, cut_at_128 = packaged.embed([fits, longer, shorter + " kidney"])
    assert np.abs(at_limit - beyond).max() <= 1e-6
    assert np.abs(at_limit - cut_at_128).max() > 1e-4


def test_counts_are_those_of_the_published_tokenizer_uncut(packaged):
    tokenizer = Tokenizer.from_file(str(MODEL / TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = [*samples()[0], *sentences(30, 500)]
    assert packaged.count_tokens(texts) == [len(tokenizer.encode(text).ids) for text in texts]


def test_broken_unicode_is_embedded_and_the_fingerprint_names_the_model_and_its_precision(packaged):
    broken = packaged.embed(["TNF \ud800 alpha"])
    assert np.abs(broken - packaged.embed(["TNF ? alpha"])).max() <= 1e-6
    assert packaged.fingerprint.startswith("bge-small-en-v1.5/int8/")
    assert packaged.max_tokens == 512


def made_up_model(directory: Path, graph: bytes) -> OnnxEmbeddings:
    (directory / GRAPH).write_bytes(graph)
    (directory / TOKENIZER).write_bytes((MODEL / TOKENIZER).read_bytes())
    write_manifest(directory, read_manifest(MODEL)[0], "MIT")
    return OnnxEmbeddings(directory)


def test_a_missing_model_says_how_to_get_one(tmp_path):
    with pytest.raises(
        EmbeddingFailed, match=r"gte-small is not on this machine\. Run `bio-mcp admin models add"
    ) as caught:
        OnnxEmbeddings(tmp_path / "gte-small")
    assert not caught.value.retryable
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"files": {}}', '{"identity": {"model_id": 1}, "files": {}}'])
def test_an_unreadable_manifest_is_a_damaged_model(tmp_path, manifest):
    (tmp_path / "model.json").write_text(manifest)
    with pytest.raises(EmbeddingFailed, match="damaged"):
        OnnxEmbeddings(tmp_path)


@pytest.mark.parametrize("name", [GRAPH, TOKENIZER])
@pytest.mark.parametrize("harm", ["deleted", "cut", "changed"])
def test_a_file_that_is_not_the_one_built_is_refused(tmp_path, name, harm):
    model = made_up_model(tmp_path, b"a graph that is never read")
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).unlink()
    if harm != "deleted":
        (tmp_path / name).write_bytes(content[:-1] + (b"" if harm == "cut" else b"?"))
    with pytest.raises(EmbeddingFailed, match="damaged") as caught:
        model.embed(["aspirin"])
    assert str(tmp_path) not in str(caught.value)


def test_a_copied_model_is_verified_by_content_and_works(tmp_path, packaged):
    for file in MODEL.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert np.array_equal(OnnxEmbeddings(tmp_path).embed(["aspirin"]), packaged.embed(["aspirin"]))


def test_a_graph_that_cannot_be_loaded_is_a_damaged_model(tmp_path):
    with pytest.raises(EmbeddingFailed, match="damaged") as caught:
        made_up_model(tmp_path, b"not a graph").embed(["aspirin"])
    assert str(tmp_path) not in str(caught.value)


def test_a_run_that_fails_is_reported_without_the_runtime_s_words(tmp_path):
    with pytest.raises(EmbeddingFailed, match="failed on this text") as caught:
        made_up_model(tmp_path, encoder()).embed(["aspirin"])
    assert caught.value.retryable
    assert "onnx" not in str(caught.value).lower()


def tiny(directory: Path, **more: object) -> Identity:
    tokenizer().save(str(directory / TOKENIZER))
    (directory / GRAPH).write_bytes(encoder())
    made = Identity("tiny", "weights", "tokenizer", HIDDEN, 12, pooling="cls", prefix="the ")
    return replace(made, **more)


def test_a_question_may_have_an_encoder_and_a_limit_of_its_own(tmp_path):
    identity = tiny(tmp_path, questions_sha256="other", question_tokens=5, question_prefix="query: ")
    (tmp_path / QUESTION_GRAPH).write_bytes(encoder(seed=9))
    write_manifest(tmp_path, identity, "MIT")
    model, long = OnnxEmbeddings(tmp_path), "ginger nausea heart liver mice"
    assert np.abs(model.embed([long])[0] - unit(token_vectors(f"the {long}")[0])).max() <= 1e-5
    asked = unit(token_vectors(f"query: {long}", limit=5, seed=9)[0])
    assert np.abs(model.embed_questions([long])[0] - asked).max() <= 1e-5
    (tmp_path / QUESTION_GRAPH).write_bytes(b"two")
    with pytest.raises(EmbeddingFailed, match="damaged"):
        OnnxEmbeddings(tmp_path).embed_questions(["ginger"])


def test_neighbours_in_length_share_a_batch_within_the_budget():
    lengths = [3, 50, 4, 49, 120, 5]
    found = list(batches(lengths, 100))
    assert found == [[4], [1, 3], [5, 2, 0]]
