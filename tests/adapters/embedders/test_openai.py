import json
from typing import Any

import numpy as np
import pytest

from bio_mcp.adapters.embedders.openai import OpenAiEmbeddings
from bio_mcp.adapters.retry import Backoff
from bio_mcp.errors import EmbeddingFailed
from tests.adapters.json_endpoint import JsonEndpoint

DIM = 4


def vector(text: str) -> list[float]:
    return [float(len(text)) + 1, text.count("a") + 0.5, 1.0, -2.0]


def ok(data: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {}, json.dumps({"object": "list", "data": data}).encode()


def embed_all(request: dict[str, Any]) -> dict[str, Any]:
    """Answers out of order, as some servers do."""
    rows = [{"index": i, "embedding": vector(text)} for i, text in enumerate(request["input"])]
    return {"data": rows[::-1]}


@pytest.fixture
def endpoint(closed: Any) -> JsonEndpoint:
    return closed(JsonEndpoint(embed_all))


@pytest.fixture
def model(endpoint: JsonEndpoint) -> OpenAiEmbeddings:
    backoff = Backoff(tries=3, first_s=0, sleep=lambda _: None)
    return OpenAiEmbeddings(endpoint.base_url, "some-model", DIM, backoff=backoff)


def unit(text: str) -> np.ndarray:
    row = np.array(vector(text))
    return row / np.linalg.norm(row)


def test_the_request_is_the_api_s(model, endpoint):
    model.embed(["aspirin"])
    OpenAiEmbeddings(endpoint.base_url + "/", "some-model", DIM).embed(["aspirin"])
    assert endpoint.requests == [{"model": "some-model", "input": ["aspirin"], "encoding_format": "float"}] * 2
    assert endpoint.paths == ["/v1/embeddings"] * 2


def test_what_the_model_wants_before_a_text_is_sent_with_it_and_part_of_the_fingerprint(endpoint):
    model = OpenAiEmbeddings(endpoint.base_url, "m", DIM, prefix="passage: ", question_prefix="query: ")
    model.embed(["aspirin"])
    model.embed_questions(["aspirin"])
    assert [each["input"] for each in endpoint.requests] == [["passage: aspirin"], ["query: aspirin"]]
    plain = OpenAiEmbeddings(endpoint.base_url, "m", DIM)
    assert plain.fingerprint == "m/http/4"
    assert model.fingerprint.startswith("m/http/4/")
    assert model.count_tokens(["a"])[0] > plain.count_tokens(["a"])[0]


def test_many_texts_go_in_several_requests_and_come_back_in_order(model, endpoint):
    texts = ["a" * n for n in range(1, 251)]
    assert np.allclose(model.embed(texts), [unit(text) for text in texts], atol=1e-6)
    assert [len(request["input"]) for request in endpoint.requests] == [96, 96, 58]


def test_an_empty_text_and_broken_unicode_are_sent_as_something_the_endpoint_takes(model, endpoint):
    assert model.embed(["", "TNF \ud800"]).shape == (2, DIM)
    assert endpoint.requests[0]["input"] == [" ", "TNF ?"]


@pytest.mark.parametrize(
    "content",
    [
        b'{"data": null}',
        ok([])[2],
        ok([{"index": 1, "embedding": [1, 2, 3, 4]}])[2],
        ok([{"index": 0, "embedding": [0, 0, 0, 0]}])[2],
        ok([{"index": 0, "embedding": [1, 2, 3, float("nan")]}])[2],
        ok([{"index": 0, "embedding": ["a", 2, 3, 4]}])[2],
        ok([{"index": 0}])[2],
    ],
)
def test_an_answer_without_a_usable_vector_is_a_failure_not_a_vector(model, endpoint, content):
    endpoint.script = [(200, {}, content)]
    with pytest.raises(EmbeddingFailed, match="cannot be read"):
        model.embed(["aspirin"])


def test_a_vector_of_another_size_names_both_sizes(model, endpoint):
    endpoint.script = [ok([{"index": 0, "embedding": [1.0] * 9}])]
    with pytest.raises(EmbeddingFailed, match="9 dimensions where 4 are configured") as caught:
        model.embed(["aspirin"])
    assert not caught.value.retryable


def test_the_fingerprint_does_not_depend_on_where_the_model_is_served(model):
    elsewhere = OpenAiEmbeddings("https://elsewhere.example/v2", "some-model", DIM)
    assert model.fingerprint == elsewhere.fingerprint == "some-model/http/4"
    assert OpenAiEmbeddings("https://elsewhere.example", "some-model", 5).fingerprint != model.fingerprint


def test_token_counts_are_rather_too_high(model, packaged):
    texts = ["", "TNF-α and IL-6 rise within 24 h (p < 0.001)", "ขมิ้นชัน", "二甲双胍", "a\ud800b", "immunohistochemistry"]
    estimates, counts = model.count_tokens(texts), packaged.count_tokens(texts)
    assert all(estimate >= count for estimate, count in zip(estimates, counts, strict=True))
    assert model.max_tokens == 8_191
