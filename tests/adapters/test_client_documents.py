"""What clients publish of themselves is fetched like anything that a client names, seldom, and within limits."""

import json

import pytest

from bio_mcp.adapters.oauth import MAX_DESCRIPTION_BYTES, ClientDocuments
from bio_mcp.errors import Forbidden, UpstreamFailed
from tests.adapters.clocks import Clock

ADDRESS = "https://client.example/oauth/client.json"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1", "[::ffff:10.0.0.1]", "localhost"]
)
def test_no_private_address_is_asked(host):
    with pytest.raises(Forbidden):
        ClientDocuments().read(f"https://{host}/oauth/client.json")


def test_a_document_is_fetched_again_after_ten_minutes_and_after_the_clock_was_set_back():
    clock, asked = Clock(), []

    def fetch(address):
        asked.append(address)
        return json.dumps(len(asked)).encode()

    documents = ClientDocuments(fetch, clock)
    assert [documents.read(ADDRESS) for _ in range(3)] == [b"1"] * 3
    clock.sleep(601)
    assert documents.read(ADDRESS) == b"2"
    clock.now -= 300
    assert documents.read(ADDRESS) == b"3"


def test_a_failure_is_not_remembered():
    answers = [UpstreamFailed("no"), b"{}"]

    def fetch(_address):
        if isinstance(answer := answers.pop(0), Exception):
            raise answer
        return answer

    documents = ClientDocuments(fetch)
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
