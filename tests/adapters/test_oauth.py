"""An issuer's keys, read from a server that may be slow or hostile, and what clients publish of themselves."""

import json

import pytest

from bio_mcp.adapters.oauth import MAX_DESCRIPTION_BYTES, ClientDocuments, fetch
from bio_mcp.errors import Forbidden, UpstreamFailed
from tests.adapters.clocks import Clock
from tests.doors.auth.issuer import publishing
from tests.support.hooked import at, raising


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


ADDRESS = "https://client.example/oauth/client.json"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1", "[::ffff:10.0.0.1]", "localhost"]
)
def test_no_private_address_is_asked(host):
    with pytest.raises(Forbidden):
        ClientDocuments().read(f"https://{host}/oauth/client.json")


def test_a_document_is_fetched_again_after_ten_minutes_and_after_the_clock_was_set_back():
    clock, asked = Clock(), []

    documents = ClientDocuments(lambda address: asked.append(address) or b"%d" % len(asked), clock)
    assert [documents.read(ADDRESS) for _ in range(3)] == [b"1"] * 3
    clock.sleep(601)
    assert documents.read(ADDRESS) == b"2"
    clock.now -= 300
    assert documents.read(ADDRESS) == b"3"


def test_a_failure_is_not_remembered():
    first_fails = at([1], raising(UpstreamFailed, "no"))
    documents = ClientDocuments(lambda address: first_fails(address) or b"{}")
    with pytest.raises(UpstreamFailed):
        documents.read(ADDRESS)
    assert documents.read(ADDRESS) == b"{}"


def test_documents_of_so_many_clients_are_remembered_and_no_more():
    asked = []
    documents = ClientDocuments(lambda address: asked.append(address) or b"{}")
    for number in range(300):
        documents.read(f"{ADDRESS}?{number}")
    documents.read(f"{ADDRESS}?299")
    documents.read(f"{ADDRESS}?0")
    assert (len(asked), MAX_DESCRIPTION_BYTES) == (301, 5 * 1024)
