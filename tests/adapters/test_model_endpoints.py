"""What every model behind an endpoint has in common: its key, its refusals, and answers that cannot be read."""

import logging

import pytest

from bio_mcp.adapters.embedders.openai import OpenAiEmbeddings
from bio_mcp.adapters.language_models import OpenAiLanguageModel
from bio_mcp.adapters.rerankers.http import HttpReranker
from bio_mcp.adapters.retry import Backoff
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, EmbeddingFailed, UpstreamFailed
from bio_mcp.scope import bounded_by
from tests.adapters.json_endpoint import JsonEndpoint

KEY = "sk-secret-of-a-test"
ONCE = Backoff(tries=1)
USUAL = {
    "data": [{"index": 0, "embedding": [1, 0]}],
    "results": [{"index": 0, "relevance_score": 1}],
    "choices": [{"message": {"content": "Yes [1]."}}],
}


def embed(url, key):
    model = OpenAiEmbeddings(url, "m", 2, api_key=key, backoff=ONCE)
    return model, lambda _deadline: model.embed(["a"])


def rerank(url, key):
    model = HttpReranker(f"{url}/rerank", "m", "cohere", api_key=lambda: key)
    return model, lambda deadline: model.scores("?", ["a"], deadline)


def write(url, key):
    model = OpenAiLanguageModel(url, "m", api_key=lambda: key, backoff=ONCE)
    return model, lambda deadline: model.generate("?", ["a"], deadline)


@pytest.fixture(params=[embed, rerank, write], ids=lambda each: each.__name__)
def asking(request):
    def ask(url, key=KEY, seconds=30):
        model, asked = request.param(url, key)
        with bounded_by(Deadline(seconds)):
            return model, asked(Deadline(seconds))

    return ask


@pytest.fixture
def endpoint(closed):
    return closed(JsonEndpoint(USUAL))


def refused(asking, url, says):
    with pytest.raises((EmbeddingFailed, UpstreamFailed), match=says) as failed:
        asking(url)
    shown = f"{failed.value!r} {failed.value.details} {failed.value.__cause__} {failed.value.__context__}"
    assert not [each for each in (KEY, "127.0.0.1") if each in shown]
    return failed.value


def test_a_key_is_a_bearer_token_that_stands_in_no_log_and_no_name_and_without_one_none_is_sent(
    asking, endpoint, caplog
):
    caplog.set_level(logging.DEBUG)
    model, _ = asking(endpoint.base_url)
    asking(endpoint.base_url, "")
    assert endpoint.authorizations == [f"Bearer {KEY}", None]
    assert KEY not in caplog.text + model.fingerprint + repr(model)


@pytest.mark.parametrize(
    ("status", "says", "retryable"),
    [
        (429, "HTTP 429", True),
        (503, "HTTP 503", True),
        (401, "API key", False),
        (403, "API key", False),
        (400, "check", False),
        (404, "check", False),
        (301, "check", False),
    ],
)
def test_a_refusal_says_what_to_check_and_nothing_of_what_it_was_answered(asking, endpoint, status, says, retryable):
    endpoint.script = [(status, {"Retry-After": "7"}, {"error": f"{KEY} is wrong"})]
    failure = refused(asking, endpoint.base_url, says)
    assert (failure.retryable, failure.retry_after_s) == (retryable, 7 if retryable else None)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "body",
    [b"", b"not json", b"[" * 100_000, b"[]", {}, {name: [{}] for name in USUAL}, b"x" * (9 << 20)],
    ids=["nothing", "text", "nested", "a list", "an object", "empty parts", "too long"],
)
def test_an_answer_of_another_form_cannot_be_read(asking, endpoint, body):
    endpoint.script = [(200, {}, body)]
    refused(asking, endpoint.base_url, "cannot be read")


def test_an_endpoint_that_is_not_there_is_reported_without_its_address(asking):
    assert refused(asking, "http://127.0.0.1:9/v1", "cannot be reached").retryable


def test_an_answer_is_not_waited_for_beyond_the_call_s_time_and_nobody_is_asked_without_any(asking, endpoint):
    endpoint.script = [(200, {"X-Pause": "0.3"}, b" " * (1 << 19))]
    with pytest.raises((EmbeddingFailed, UpstreamFailed, DeadlineExceeded), match="time"):
        asking(endpoint.base_url, seconds=0.1)
    with pytest.raises(DeadlineExceeded):
        asking(endpoint.base_url, seconds=0)
    assert len(endpoint.requests) == 1
