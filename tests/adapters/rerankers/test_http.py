"""Rerankers behind an endpoint, in both forms, over a local one."""

import pytest

from bio_mcp.adapters.rerankers.http import HttpReranker
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, UpstreamFailed
from tests.adapters.json_endpoint import JsonEndpoint

PASSAGES = ["one", "two", "three"]
COHERE = {"results": [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.5}]}
COHERE["results"].append({"index": 1, "relevance_score": -1})
TEI = [{"index": 1, "score": 3.5}, {"index": 0, "score": 2}, {"index": 2, "score": -7.25}]
KEY = "sk-of-a-test"


@pytest.fixture
def endpoint(closed):
    return closed(JsonEndpoint(COHERE))


def asked(endpoint, form="cohere", deadline=NEVER, **more):
    return HttpReranker(f"{endpoint.base_url}/rerank", "m", form, **more).scores("?", PASSAGES, deadline)


def test_scores_are_in_the_order_of_the_passages_in_either_form(endpoint):
    assert asked(endpoint) == [0.5, -1, 0.9]
    endpoint.usual = TEI
    assert asked(endpoint, "tei") == [2, 3.5, -7.25]
    assert endpoint.requests == [
        {"model": "m", "query": "?", "documents": PASSAGES, "top_n": 3},
        {"query": "?", "texts": PASSAGES, "truncate": True},
    ]
    assert endpoint.paths == ["/v1/rerank", "/v1/rerank"]


def test_a_key_is_sent_as_a_bearer_token_and_shown_nowhere(endpoint):
    asked(endpoint)
    asked(endpoint, api_key=lambda: KEY)
    assert endpoint.authorizations == [None, f"Bearer {KEY}"]
    endpoint.script = [(401, {}, {"error": f"{KEY} is wrong"})]
    with pytest.raises(UpstreamFailed, match="refused the API key") as failed:
        asked(endpoint, api_key=lambda: KEY)
    assert KEY not in str(failed.value)
    assert not failed.value.retryable


@pytest.mark.parametrize(("status", "retryable"), [(429, True), (503, True), (400, False), (404, False)])
def test_a_refusal_says_whether_the_same_may_succeed_later(endpoint, status, retryable):
    endpoint.script = [(status, {"Retry-After": "7"}, {})]
    with pytest.raises(UpstreamFailed, match=f"HTTP {status}") as failed:
        asked(endpoint)
    assert failed.value.retryable is retryable
    assert len(endpoint.requests) == 1  # a search does not wait for another try


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[" * 100_000,
        {},
        [],
        {"results": [{"index": 0, "relevance_score": 1}]},
        {"results": [{"index": n, "relevance_score": "high"} for n in range(3)]},
        {"results": [{"index": n, "relevance_score": float("nan")} for n in range(3)]},
        b"x" * (9 << 20),
    ],
    ids=["nothing", "nested", "no results", "a list", "too few", "words", "no number", "too long"],
)
def test_an_answer_without_a_score_for_each_passage_is_a_failure(endpoint, body):
    endpoint.script = [(200, {}, body)]
    with pytest.raises(UpstreamFailed, match="cannot be read"):
        asked(endpoint)


def test_it_is_not_waited_for_beyond_its_own_time_nor_the_call_s(endpoint):
    endpoint.script = [(200, {"X-Pause": "0.3"}, COHERE)]
    with pytest.raises((UpstreamFailed, DeadlineExceeded), match="time"):
        asked(endpoint, patience_s=0.05)
    with pytest.raises(DeadlineExceeded):
        asked(endpoint, deadline=Deadline(0))


def test_an_endpoint_that_is_not_there_is_a_failure():
    with pytest.raises(UpstreamFailed, match="cannot be reached"):
        HttpReranker("http://127.0.0.1:9/rerank", "m", "tei").scores("?", PASSAGES, NEVER)


def test_the_fingerprint_names_form_model_and_host_and_no_more():
    assert HttpReranker("https://a.example/v2/rerank?key=1", "m", "cohere").fingerprint == "cohere/m/a.example"
