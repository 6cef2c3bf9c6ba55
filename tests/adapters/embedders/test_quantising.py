"""Models of this machine in 8 bits, beside the same arithmetic in plain numpy."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnxruntime
import pytest

from bio_mcp.adapters.embedders import quantising
from bio_mcp.adapters.embedders.adding import Wanted, add
from bio_mcp.adapters.embedders.golden import golden
from bio_mcp.adapters.embedders.installed import GRAPH, TOKENIZER, default_model_dir, read_manifest
from bio_mcp.adapters.embedders.int8_graph import int8_bytes
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.adapters.embedders.quantising import quantise
from bio_mcp.adapters.rerankers.adding import add_reranker
from bio_mcp.errors import EmbeddingFailed, InvalidInput
from tests.adapters.embedders.safetensors_files import write
from tests.adapters.embedders.test_modernbert import CONFIG as MODERN
from tests.adapters.embedders.test_modernbert import weights as modern_weights
from tests.adapters.embedders.tiny_model import published, put
from tests.adapters.rerankers.tiny_reranker import published as reranker

RANDOM = np.random.default_rng(17)
MATRIX = RANDOM.normal(size=(8, 5)).astype(np.float32)
TOKENS = RANDOM.normal(size=(2, 3, 8)).astype(np.float32) * np.array([1, 40, 0], np.float32)[:, None]


def quiet(_line: str) -> None:
    """Report nothing."""


@pytest.fixture
def models(tmp_path):
    add(published(tmp_path / "tiny"), tmp_path / "models", Wanted(), quiet)
    return tmp_path / "models"


@pytest.fixture(scope="module")
def minilm8(tmp_path_factory):
    """The default model in 8 bits."""
    models = tmp_path_factory.mktemp("models")
    (models / "all-MiniLM-L6-v2").symlink_to(default_model_dir(), target_is_directory=True)
    quantise(models, "all-MiniLM-L6-v2", quiet)
    return OnnxEmbeddings(models / "all-MiniLM-L6-v2-int8")


def one_layer(name="layer.matrix"):
    """A graph of a single product with a matrix."""
    product = onnx.helper.make_node("MatMul", ["x", name], ["y"])
    shape = ["batch", "tokens", 8]
    graph = onnx.helper.make_graph(
        [product],
        "product",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 5])],
        [onnx.numpy_helper.from_array(MATRIX, name)],
    )
    return onnx.helper.make_model(graph)


def products(x):
    """What the graph in 8 bits makes of `x`."""
    model = onnx.load_from_string(int8_bytes(one_layer()))
    del model.graph.input[:], model.graph.output[:]
    model.graph.input.append(onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["b", "t", 8]))
    model.graph.output.append(onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["b", "t", 5]))
    [found] = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    return found


def test_a_product_in_8_bits_is_that_of_the_rounded_numbers_token_by_token():
    columns = np.abs(MATRIX).max(axis=0) / 63
    sizes = np.maximum(np.abs(TOKENS).max(axis=-1, keepdims=True), 1e-12)
    expected = (np.rint(TOKENS * (127 / sizes)) @ np.rint(MATRIX / columns)) * columns * (sizes / 127)
    assert np.allclose(products(TOKENS), expected, rtol=1e-5, atol=1e-6)
    assert np.abs(products(TOKENS) - TOKENS @ MATRIX).max() > 1e-4


def test_a_large_token_leaves_the_others_as_exact_as_they_were():
    small = TOKENS[:, :1]
    assert np.array_equal(products(TOKENS)[:, :1], products(small))


def test_two_of_the_largest_products_fit_16_bits_as_some_processors_add_them():
    made = onnx.load_from_string(int8_bytes(one_layer()))
    [codes] = [onnx.numpy_helper.to_array(each) for each in made.graph.initializer if each.name.endswith(".weights")]
    assert codes.dtype == np.int8
    assert 2 * 255 * int(np.abs(codes).max()) < 2**15


def test_vectors_of_the_default_model_in_8_bits_are_near_those_in_fp32(minilm8, minilm):
    texts, expected = golden()
    cosines = np.einsum("ij,ij->i", minilm8.embed(texts), expected)
    assert cosines.mean() > 0.99
    assert cosines.min() > 0.97


def test_a_vector_in_8_bits_does_not_depend_on_what_is_embedded_with_it(minilm8):
    texts, _ = golden()
    alone = np.concatenate([minilm8.embed([text]) for text in texts])
    assert np.abs(minilm8.embed(texts) - alone).max() <= 1e-6


def test_a_model_in_8_bits_has_a_fingerprint_name_and_files_of_its_own(models):
    made = quantise(models, "tiny", quiet)
    before, after = OnnxEmbeddings(models / "tiny"), OnnxEmbeddings(models / "tiny-int8")
    assert made.identity.model_id == "tiny-int8"
    assert after.fingerprint.startswith("tiny-int8/int8/")
    assert (after.dim, after.max_tokens) == (before.dim, before.max_tokens)
    assert (models / "tiny-int8" / TOKENIZER).read_bytes() == (models / "tiny" / TOKENIZER).read_bytes()


def test_quantising_again_leaves_what_is_there(models):
    quantise(models, "tiny", quiet)
    first = (models / "tiny-int8" / GRAPH).stat().st_mtime_ns
    said: list[str] = []
    quantise(models, "tiny", said.append)
    assert (models / "tiny-int8" / GRAPH).stat().st_mtime_ns == first
    assert said == []


def test_a_harmed_model_in_8_bits_is_replaced(models):
    quantise(models, "tiny", quiet)
    (models / "tiny-int8" / GRAPH).write_bytes(b"harmed")
    quantise(models, "tiny", quiet)
    assert OnnxEmbeddings(models / "tiny-int8").embed(["heart"]).shape == (1, 8)


def test_another_model_of_that_name_stays(models, tmp_path):
    add(published(tmp_path / "tiny-int8", seed=9), models, Wanted(), quiet)
    before = (models / "tiny-int8" / GRAPH).read_bytes()
    with pytest.raises(InvalidInput, match="installed already, as another model"):
        quantise(models, "tiny", quiet)
    assert (models / "tiny-int8" / GRAPH).read_bytes() == before


def test_a_model_in_8_bits_is_not_quantised_again(models):
    quantise(models, "tiny", quiet)
    with pytest.raises(InvalidInput, match="no embedding model in fp32"):
        quantise(models, "tiny-int8", quiet)


def test_a_reranker_is_not_quantised(models, tmp_path):
    add_reranker(reranker(tmp_path / "reader"), models, "reader", "MIT", quiet)
    with pytest.raises(InvalidInput, match="no embedding model in fp32"):
        quantise(models, "reader", quiet)


def test_a_graph_without_layers_in_fp32_is_refused():
    with pytest.raises(ValueError, match="no layers in fp32"):
        int8_bytes(one_layer("head.0.matrix"))


def test_a_harmed_model_is_not_quantised(models):
    (models / "tiny" / GRAPH).write_bytes(b"harmed")
    with pytest.raises(EmbeddingFailed, match="damaged"):
        quantise(models, "tiny", quiet)
    assert not (models / "tiny-int8").exists()


def test_vectors_too_far_from_those_in_fp32_install_nothing(models):
    with pytest.raises(InvalidInput, match="nothing was installed"):
        quantise(models, "tiny", quiet, least_cosine=1.0)
    assert not (models / "tiny-int8").exists()


def test_the_encoder_of_questions_is_quantised_with_that_of_passages(tmp_path):
    passages, questions = published(tmp_path / "tiny"), published(tmp_path / "asking", seed=9)
    models = tmp_path / "models"
    add(passages, models, Wanted(questions=questions), quiet)
    quantise(models, "tiny", quiet)
    before, after = OnnxEmbeddings(models / "tiny"), OnnxEmbeddings(models / "tiny-int8")
    texts = ["heart of mice", "nausea"]
    assert not np.allclose(after.embed_questions(texts), after.embed(texts), atol=0.05)
    assert np.einsum("ij,ij->i", after.embed_questions(texts), before.embed_questions(texts)).min() > 0.9
    assert json.loads((models / "tiny-int8/model.json").read_text())["identity"]["precision"] == "int8"
    assert read_manifest(models / "tiny-int8")[0].questions_sha256 == read_manifest(models / "tiny")[0].questions_sha256


def test_a_modernbert_is_quantised_too(tmp_path):
    source, models = published(tmp_path / "modern"), tmp_path / "models"
    put(source / "config.json", MODERN)
    write(source / "model.safetensors", modern_weights())
    add(source, models, Wanted(), quiet)
    quantise(models, "modern", quiet)
    texts, _ = golden()
    before, after = OnnxEmbeddings(models / "modern"), OnnxEmbeddings(models / "modern-int8")
    cosines = np.einsum("ij,ij->i", before.embed(texts), after.embed(texts))
    assert np.median(cosines) > 0.999
    assert cosines.min() > quantising.LEAST_COSINE
    assert not np.array_equal(before.embed(texts), after.embed(texts))


def test_the_layers_after_the_pooling_and_the_table_of_words_stay_in_fp32(models):
    quantise(models, "tiny", quiet)
    graph = onnx.load(models / "tiny-int8" / GRAPH).graph
    kinds = {each.name: each.data_type for each in graph.initializer}
    assert kinds["embeddings.word_embeddings.weight"] == onnx.TensorProto.FLOAT
    assert sum(kind == onnx.TensorProto.INT8 for name, kind in kinds.items() if name.endswith(".weights")) == 2 * 6
    assert {each.op_type for each in graph.node} & {"MatMul", "Attention", "DynamicQuantizeLinear"} == set()


def test_threads_share_a_model_in_8_bits_and_more_of_them_give_the_same_vectors(minilm8):
    texts = [f"{text} {number}" for number in range(2) for text in golden()[0][:6]]
    with ThreadPoolExecutor(3) as threads:
        found = np.concatenate(list(threads.map(lambda text: minilm8.embed([text]), texts)))
    assert np.abs(found - minilm8.embed(texts)).max() <= 1e-6
