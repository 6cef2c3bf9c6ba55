"""The client against the local NCBI, over HTTP and over real records."""

import threading
from collections.abc import Iterator

import pytest

from bio_mcp.adapters.entrez.client import Eutils
from bio_mcp.adapters.entrez.transport import HttpTransport
from bio_mcp.adapters.rate_limit import LocalRateLimiter
from bio_mcp.adapters.retry import Backoff
from bio_mcp.deadline import NEVER
from bio_mcp.errors import NcbiFailed
from tests.adapters.clocks import Clock
from tests.adapters.entrez.scripted import WHO
from tests.support.eutils_server.client import Running


@pytest.fixture
def client(ncbi: Running) -> Iterator[Eutils]:
    """A client that neither spreads its requests nor pauses between tries, whatever NCBI asks."""
    clock = Clock()
    opened = Eutils(
        HttpTransport(ncbi.base_url, **WHO),
        pacer=LocalRateLimiter(0.0, clock, clock.sleep),
        backoff=Backoff(sleep=clock.sleep),
    )
    yield opened
    opened.close()


def test_every_record_of_the_day_is_found_and_fetched(client, ncbi):
    ncbi.control.rules(strict=True)
    there = {str(pmid) for pmid in ncbi.control.pmids("crdt", "1900", "3000")}
    page = client.esearch('("1900"[crdt] : "3000"[crdt])', deadline=NEVER)
    assert set(page.ids) == there
    assert page.count == len(there)
    ids = list(page.ids)
    fetched = [
        record.pmid
        for start in range(0, len(ids), 200)
        for record in client.efetch(ids[start : start + 200], deadline=NEVER)
    ]
    assert sorted(fetched) == sorted(there)


def test_contact_with_ncbi_is_remembered(client, ncbi):
    assert client.contact().last is None
    client.einfo()
    contact = client.contact()
    assert (contact.tool, contact.keyed, contact.limit, contact.waiting) == ("bio-mcp-tests", True, 10, 0)
    assert contact.last == contact.answered
    assert contact.left is not None
    ncbi.control.fault(status=500, times=6)
    with pytest.raises(NcbiFailed):
        client.einfo()
    assert client.contact().last == client.contact().failed


def test_no_text_is_no_records_only_where_the_xml_has_none_either(client, ncbi):
    assert client.efetch_text(["999999999"]) == ""
    known = str(ncbi.control.pmids()[0])
    ncbi.control.fault(endpoint="efetch", status=200)
    assert f"PMID- {known}" in client.efetch_text([known])


def test_eight_threads_share_one_client(client, ncbi):
    pmids = [str(pmid) for pmid in ncbi.control.pmids()[:40]]
    fetched: list[str] = []

    def fetch(part: list[str]) -> None:
        fetched.extend(record.pmid for record in client.efetch(part))

    threads = [threading.Thread(target=fetch, args=(pmids[number::8],)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(fetched) == sorted(pmids)
