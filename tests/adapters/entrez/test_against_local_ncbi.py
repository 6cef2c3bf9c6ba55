"""The client against the local NCBI, over HTTP and over real records."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from bio_mcp.adapters.entrez.client import Eutils
from bio_mcp.adapters.entrez.transport import HttpTransport
from bio_mcp.adapters.rate_limit import LocalRateLimiter
from bio_mcp.adapters.retry import Backoff
from bio_mcp.errors import NcbiFailed
from tests.adapters.clocks import Clock
from tests.adapters.entrez.scripted import WHO
from tests.support.eutils_server.client import Running


@pytest.fixture
def client(ncbi: Running, closed) -> Eutils:
    """A client that neither spreads its requests nor pauses between tries, whatever NCBI asks."""
    clock = Clock()
    pacer, backoff = LocalRateLimiter(0.0, clock, clock.sleep), Backoff(sleep=clock.sleep)
    return closed(Eutils(HttpTransport(ncbi.base_url, **WHO), pacer=pacer, backoff=backoff))


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
    with ThreadPoolExecutor(8) as threads:
        fetched = [record for part in threads.map(client.efetch, (pmids[n::8] for n in range(8))) for record in part]
    assert sorted(record.pmid for record in fetched) == sorted(pmids)
