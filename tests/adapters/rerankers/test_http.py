"""Rerankers behind an endpoint, in both forms, over a local one."""

import pytest

from bio_mcp.adapters.rerankers.http import HttpReranker
from bio_mcp.deadline import NEVER
from bio_mcp.errors import DeadlineExceeded, UpstreamFailed
from tests.adapters.json_endpoint import JsonEndpoint

PASSAGES = ["one", "two", "three"]
COHERE = {"results": [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.5}]}
COHERE["results"].append({"index": 1, "relevance_score": -1})
TEI = [{"index": 1, "score": 3.5}, {"index": 0, "score": 2}, {"index": 2, "score": -7.25}]


@pytest.fixture
def endpoint(closed):
    return closed(JsonEndpoint(COHERE))


def asked(endpoint, form="cohere", **more):
    return HttpReranker(f"{endpoint.base_url}/rerank", "m", form, **more).scores("?", PASSAGES, NEVER)


def test_scores_are_in_the_order_of_the_passages_in_either_form(endpoint):
    assert asked(endpoint) == [0.5, -1, 0.9]
    endpoint.usual = TEI
    assert asked(endpoint, "tei") == [2, 3.5, -7.25]
    assert endpoint.requests == [
        {"model": "m", "query": "?", "documents": PASSAGES, "top_n": 3},
        {"query": "?", "texts": PASSAGES, "truncate": True},
    ]
    assert endpoint.paths == ["/v1/rerank", "/v1/rerank"]


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"results": [{"index": 0, "relevance_score": 1}]},
        {"results": [{"index": n, "relevance_score": "high"} for n in range(3)]},
        {"results": [{"index": n, "relevance_score": float("nan")} for n in range(3)]},
    ],
    ids=["a list", "too few", "words", "no number"],
)
def test_an_answer_without_a_score_for_each_passage_is_a_failure(endpoint, body):
    endpoint.script = [(200, {}, body)]
    with pytest.raises(UpstreamFailed, match="cannot be read"):
        asked(endpoint)


def test_it_is_not_waited_for_beyond_its_own_time(endpoint):
    endpoint.script = [(200, {"X-Pause": "0.3"}, COHERE)]
    with pytest.raises((UpstreamFailed, DeadlineExceeded), match="time"):
        asked(endpoint, patience_s=0.05)


def test_the_fingerprint_names_form_model_and_host_and_no_more():
    assert HttpReranker("https://a.example/v2/rerank?key=1", "m", "cohere").fingerprint == "cohere/m/a.example"
