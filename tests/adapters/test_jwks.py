"""Reading an issuer's keys from a server that may be slow, wrong or hostile."""

import json

import pytest

from bio_mcp.adapters.oauth import fetch
from bio_mcp.errors import UpstreamFailed
from tests.doors.auth.issuer import publishing


def test_what_is_published_is_read():
    with publishing({"kty": "RSA"}) as keys:
        assert json.loads(fetch(keys.url)) == {"keys": [{"kty": "RSA"}]}


@pytest.mark.parametrize("status", [204, 301, 302, 404, 500, 503])
def test_another_status_is_a_failure_that_tells_neither_address_nor_answer(status):
    with publishing() as keys:
        keys.status = status
        with pytest.raises(UpstreamFailed, match=f"status {status}") as failed:
            fetch(keys.url)
    assert failed.value.retryable
    assert "secret details" not in str(failed.value)
    assert keys.url not in str(failed.value)


def test_an_answer_without_an_end_is_cut_off():
    with publishing({"kty": "x" * 5_000}) as keys, pytest.raises(UpstreamFailed, match="longer than any set of keys"):
        fetch(keys.url, max_bytes=1_000)


def test_an_issuer_that_answers_too_late_is_a_failure():
    with publishing({"kty": "RSA"}) as keys, pytest.raises(UpstreamFailed, match="could not be read"):
        fetch(keys.url, timeout_s=0.0)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/keys", "http://127.0.0.1:99999/", "gopher://127.0.0.1/", "http://"]
)
def test_an_address_that_leads_nowhere_is_a_failure(url):
    with pytest.raises(UpstreamFailed, match="could not be read"):
        fetch(url)
