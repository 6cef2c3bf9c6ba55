"""Limits, keys, headers and the connection itself."""

import json

import httpx
import pytest

from tests.eutils_server.answers import RECORDINGS, Params
from tests.eutils_server.client import running
from tests.eutils_server.traffic import Meter, Rules, refusal

ASK = Params([("term", "cancer")])


def refusals(rules, params, times):
    meter = Meter()
    return [refusal(rules, meter, params, "203.0.113.7") for _ in range(times)]


def test_the_fourth_request_of_a_second_is_the_recorded_429():
    *admitted, (refused, headers) = refusals(Rules(rate=3), ASK, 4)
    assert [answer for answer, _ in admitted] == [None, None, None]
    assert [left["X-RateLimit-Remaining"] for _, left in admitted] == ["2", "1", "0"]
    assert refused.status == 429
    assert refused.body == (RECORDINGS / "errors" / "429_ip_form.json").read_bytes().strip()
    assert headers == {"X-RateLimit-Limit": "3", "X-RateLimit-Remaining": "0"}


def test_a_key_has_its_own_larger_budget_and_is_echoed():
    keyed = Params([("api_key", "s3cret")])
    answers = [answer for answer, _ in refusals(Rules(rate=3), keyed, 11)]
    assert answers[:10] == [None] * 10
    content = json.loads(answers[10].body)
    assert [content["api-key"], content["count"], content["limit"]] == ["s3cret", "11", "10"]


def test_without_a_rate_nobody_is_refused():
    assert all(answer is None for answer, _ in refusals(Rules(), ASK, 50))


def test_an_invalid_key_is_400_and_echoed(ncbi, client):
    ncbi.control.rules(invalid_keys=["stale"])
    answer = client.get("esearch.fcgi", params={"term": "x", "api_key": "stale"})
    assert answer.status_code == 400
    assert json.loads(answer.text, strict=False)["api-key"] == "stale"
    assert client.get("esearch.fcgi", params={"term": "x", "api_key": "good"}).headers["x-ratelimit-limit"] == "10"


def test_a_strict_server_wants_to_know_who_asks(ncbi, client):
    ncbi.control.rules(strict=True)
    assert client.get("esearch.fcgi", params={"term": "x", "tool": "t"}).status_code == 400
    assert client.get("esearch.fcgi", params={"term": "x", "tool": "t", "email": "a@b.org"}).status_code == 200


def test_an_unknown_rule_is_refused(ncbi):
    with pytest.raises(ValueError, match="no rule is called"):
        ncbi.control.rules(speed=9)


def test_the_headers_are_those_of_the_recordings(client):
    headers = client.get("esearch.fcgi", params={"term": "cancer"}).headers
    expected = {"server": "Finatra", "cache-control": "private", "content-type": "text/xml; charset=UTF-8"}
    expected |= {"content-encoding": "gzip", "transfer-encoding": "chunked", "x-ratelimit-limit": "3"}
    assert {name: headers[name] for name in expected} == expected
    assert "ncbi-phid" in headers
    assert headers["keep-alive"] == "timeout=4, max=39"


def test_a_client_that_takes_no_gzip_gets_none(client):
    answer = client.get("esearch.fcgi", params={"term": "cancer"}, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in answer.headers


def test_a_connection_carries_forty_requests(client):
    headers = [client.get("esearch.fcgi", params={"term": "1[uid]"}).headers for _ in range(41)]
    assert [one.get("keep-alive") for one in headers[:39]] == [f"timeout=4, max={left}" for left in range(39, 0, -1)]
    assert headers[39]["connection"] == "close"
    assert headers[40]["keep-alive"] == "timeout=4, max=39"


def test_a_slow_download_does_not_hold_up_another(ncbi):
    ncbi.control.fault(endpoint="efetch", stall=5)
    pmid = str(ncbi.control.pmids()[0])
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(f"{ncbi.base_url}efetch.fcgi", params={"id": pmid}, timeout=0.05)
    assert httpx.get(f"{ncbi.base_url}esearch.fcgi", params={"term": "cancer"}, timeout=4).status_code == 200


def test_a_server_over_nothing_answers_too():
    with running(rate=3) as ncbi:
        answer = httpx.get(f"{ncbi.base_url}esearch.fcgi", params={"term": "all[sb]", "retmode": "json"})
        assert answer.json()["esearchresult"]["count"] == "0"
