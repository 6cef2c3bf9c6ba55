from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from bio_mcp.adapters.embedders.golden import TOLERANCE, golden, largest_difference
from bio_mcp.adapters.embedders.graph import encoder_bytes
from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2
from bio_mcp.adapters.embedders.installed import GRAPH, TOKENIZER, default_model_dir, write_manifest
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.errors import EmbeddingFailed
from tests.adapters.embedders.tiny import HEADS, LAYERS, forward, tiny_weights

WORDS = "of in mice cell IL-6 sepsis randomised TNF-α 5 µg/kg, p < 0.05; insulin heart 84 % GLP-1R β-blocker"


def sentences(count: int, longest: int, seed: int = 7) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS.split(), size=rng.integers(1, longest))) for _ in range(count)]


def test_vectors_are_those_of_sentence_transformers(minilm):
    assert largest_difference(minilm) <= TOLERANCE


def test_the_same_texts_in_another_order_keep_their_vectors(minilm):
    texts, expected = golden()
    order = np.random.default_rng(3).permutation(len(texts))
    assert np.abs(minilm.embed([texts[i] for i in order]) - expected[order]).max() <= TOLERANCE


@pytest.mark.parametrize("budget", [1, 300, 2_000, 20_000])
def test_a_vector_does_not_depend_on_what_is_embedded_with_it(minilm, budget):
    texts = sentences(24, 60)
    alone = np.concatenate([minilm.embed([text]) for text in texts])
    together = OnnxEmbeddings(default_model_dir(), tokens_per_batch=budget).embed(texts)
    assert np.abs(together - alone).max() <= 1e-6


def test_more_threads_give_the_same_vectors(minilm):
    texts = sentences(16, 60)
    threaded = OnnxEmbeddings(default_model_dir(), threads=2).embed(texts)
    assert np.abs(threaded - minilm.embed(texts)).max() <= 1e-6


def test_a_model_shared_by_threads_is_loaded_once_and_answers_each_its_own():
    shared = OnnxEmbeddings(default_model_dir())
    texts = sentences(24, 30)
    with ThreadPoolExecutor(4) as threads:
        vectors = list(threads.map(lambda text: shared.embed([text])[0], texts))
    assert np.abs(np.stack(vectors) - shared.embed(texts)).max() <= 1e-6


def test_vectors_are_unit_length_float32_rows_one_per_text(minilm):
    vectors = minilm.embed(["", " \n\t", "aspirin", "x" * 100_000, *sentences(10, 400)])
    assert vectors.dtype == np.float32
    assert vectors.shape == (14, minilm.dim) == (14, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_no_texts_give_no_rows(minilm):
    assert minilm.embed([]).shape == (0, 384)
    assert minilm.count_tokens([]) == []


def test_a_text_beyond_the_limit_is_read_up_to_it_and_no_further(minilm):
    words = ["heart"] * 254
    fits, longer = " ".join(words), " ".join([*words, "kidney", "liver"])
    shorter = " ".join(words[:126])
    assert minilm.count_tokens([fits, longer]) == [256, 258]
    at_limit, beyond, cut_at_128 = minilm.embed([fits, longer, shorter + " kidney"])
    assert np.abs(at_limit - beyond).max() <= 1e-6
    assert np.abs(at_limit - cut_at_128).max() > 1e-4


def test_counts_are_those_of_the_published_tokenizer_uncut(minilm):
    tokenizer = Tokenizer.from_file(str(default_model_dir() / TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = [*golden()[0], *sentences(30, 500)]
    assert minilm.count_tokens(texts) == [len(tokenizer.encode(text).ids) for text in texts]


def test_broken_unicode_is_embedded_not_refused(minilm):
    broken = minilm.embed(["TNF \ud800 alpha"])
    assert np.abs(broken - minilm.embed(["TNF ? alpha"])).max() <= 1e-6


def test_the_fingerprint_names_the_model_and_its_precision(minilm):
    assert minilm.fingerprint == ALL_MINILM_L6_V2.fingerprint == "all-MiniLM-L6-v2/fp32/e35ab1bcfb8ff107"
    assert minilm.max_tokens == 256


def test_the_graph_computes_a_bert_encoder():
    weights = tiny_weights()
    session = onnxruntime.InferenceSession(encoder_bytes(weights, layers=LAYERS, heads=HEADS, epsilon=1e-12))
    ids = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0]], dtype=np.int64)
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], dtype=np.int64)
    (vectors,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    expected = np.stack([forward(weights, ids[0]), forward(weights, ids[1, :3])])
    assert np.abs(vectors - expected).max() <= 1e-5


def test_the_graph_is_the_same_bytes_every_time():
    first, second = (encoder_bytes(tiny_weights(), layers=LAYERS, heads=HEADS, epsilon=1e-12) for _ in range(2))
    assert first == second


def made_up_model(directory: Path, graph: bytes) -> OnnxEmbeddings:
    (directory / GRAPH).write_bytes(graph)
    (directory / TOKENIZER).write_bytes((default_model_dir() / TOKENIZER).read_bytes())
    write_manifest(directory, ALL_MINILM_L6_V2)
    return OnnxEmbeddings(directory)


@pytest.mark.parametrize(
    ("name", "remedy"), [("all-MiniLM-L6-v2", "bio-mcp setup"), ("gte-small", "bio-mcp models add FOLDER")]
)
def test_a_missing_model_says_how_to_get_one(tmp_path, name, remedy):
    with pytest.raises(EmbeddingFailed, match=f"{name} is not on this machine. Run `{remedy}`") as caught:
        OnnxEmbeddings(tmp_path / name)
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


def test_a_copied_model_is_verified_by_content_and_works(tmp_path, minilm):
    for file in default_model_dir().iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert np.array_equal(OnnxEmbeddings(tmp_path).embed(["aspirin"]), minilm.embed(["aspirin"]))


def test_a_graph_that_cannot_be_loaded_is_a_damaged_model(tmp_path):
    with pytest.raises(EmbeddingFailed, match="damaged") as caught:
        made_up_model(tmp_path, b"not a graph").embed(["aspirin"])
    assert str(tmp_path) not in str(caught.value)


def test_a_run_that_fails_is_reported_without_the_runtime_s_words(tmp_path):
    too_few_words = encoder_bytes(tiny_weights(), layers=LAYERS, heads=HEADS, epsilon=1e-12)
    with pytest.raises(EmbeddingFailed, match="failed on this text") as caught:
        made_up_model(tmp_path, too_few_words).embed(["aspirin"])
    assert caught.value.retryable
    assert "onnx" not in str(caught.value).lower()
