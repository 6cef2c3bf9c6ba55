"""The port Embeddings over every adapter of it. A new one joins by a row in `MODELS`."""

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

from bio_mcp.adapters.embedders.hf import HfEmbeddings
from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED
from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings
from bio_mcp.adapters.embedders.openai import OpenAiEmbeddings
from bio_mcp.adapters.metered import MeteredEmbeddings
from bio_mcp.adapters.retry import Backoff
from bio_mcp.errors import EmbeddingFailed
from bio_mcp.evaluating.asking import RememberedEmbeddings
from bio_mcp.wiring.models import EMBEDDINGS
from tests.adapters.embedders.test_openai import DIM, embed_all
from tests.adapters.json_endpoint import JsonEndpoint
from tests.support.hashed_words import HashedWords

TEXTS = ["Aspirin lowers fever.", "TNF-α in mice", "", "a", "a", "Insulin and leptin. " * 2_000]


@contextmanager
def onnx(broken):
    yield OnnxEmbeddings(PACKAGED / ("gone" if broken else DEFAULT))


@contextmanager
def hf(broken):
    yield HfEmbeddings(PACKAGED / ("gone" if broken else DEFAULT))


@contextmanager
def openai(broken):
    endpoint = JsonEndpoint(embed_all)
    url = "http://127.0.0.1:9/v1" if broken else endpoint.base_url
    backoff = Backoff(tries=2, first_s=0, patience_s=1, sleep=lambda _: None, rng=lambda: 0.5)
    yield OpenAiEmbeddings(url, "some-model", DIM, backoff=backoff)
    endpoint.close()


class Failing(HashedWords):
    def embed(self, texts):
        raise EmbeddingFailed(f"no vectors of {len(texts)} texts")


@contextmanager
def metered(broken):
    yield MeteredEmbeddings(Failing() if broken else HashedWords())


@contextmanager
def remembered(broken):
    yield RememberedEmbeddings(Failing() if broken else HashedWords())


MODELS = {"onnx": onnx, "hf": hf, "openai": openai, "metered": metered, "remembered": remembered}
if not importlib.util.find_spec("sentence_transformers"):  # it is an extra, with 5 GB of torch
    del MODELS["hf"]


@pytest.fixture(params=MODELS)
def made(request):
    return MODELS[request.param]


@pytest.fixture
def model(made):
    with made(broken=False) as model:
        yield model


def test_every_provider_that_settings_may_name_is_in_the_table():
    assert EMBEDDINGS.keys() - {"hf"} <= MODELS.keys()


def test_the_same_model_has_the_same_fingerprint(made, model):
    with made(broken=False) as again:
        assert again.fingerprint == model.fingerprint != ""


@pytest.mark.parametrize("kind", ["embed", "embed_questions"])
def test_each_text_has_a_unit_vector_in_its_place(model, kind):
    vectors = getattr(model, kind)(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), model.dim), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    alone = np.concatenate([getattr(model, kind)([text]) for text in TEXTS])
    assert np.abs(vectors - alone).max() <= 1e-5


@pytest.mark.parametrize("kind", ["embed", "embed_questions"])
def test_no_texts_have_no_vectors(model, kind):
    assert getattr(model, kind)([]).shape == (0, model.dim)


def test_tokens_are_counted_per_text_and_beyond_what_is_read(model):
    counts = model.count_tokens(TEXTS)
    assert len(counts) == len(TEXTS)
    assert 0 < counts[2] < counts[0] < counts[-1]
    assert model.count_tokens(["insulin " * (model.max_tokens + 10)])[0] > model.max_tokens
    assert model.count_tokens([]) == []


def test_threads_share_a_model(model):
    expected = model.embed(TEXTS[:2])
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: model.embed(TEXTS[:2]), range(8)):
            assert np.abs(vectors - expected).max() <= 1e-5


@pytest.mark.parametrize("kind", ["embed", "embed_questions"])
def test_a_model_that_gives_no_vectors_raises(made, kind):
    with pytest.raises(EmbeddingFailed), made(broken=True) as model:
        getattr(model, kind)(["aspirin"])
