"""The sample records, in process and over HTTP."""

import httpx
import pytest
from lxml import etree

from tests.support.eutils_server.catalogue import Catalogue
from tests.support.eutils_server.fixtures import SAMPLE


@pytest.fixture(scope="session")
def sample():
    return Catalogue([SAMPLE])


@pytest.fixture
def client(ncbi):
    with httpx.Client(base_url=ncbi.base_url, timeout=30) as client:
        yield client


@pytest.fixture
def search(client):
    def search(**params):
        answer = client.get("esearch.fcgi", params={"db": "pubmed", "retmode": "json"} | params)
        return answer.json()["esearchresult"]

    return search


@pytest.fixture
def fetched(client):
    """PMIDs that an efetch of these ids brings, in the order they came."""

    def fetched(ids, **params):
        answer = client.post("efetch.fcgi", data={"db": "pubmed", "id": ",".join(map(str, ids))} | params)
        root = etree.fromstring(answer.content)
        return [int(text) for text in root.xpath("*/MedlineCitation/PMID/text() | */BookDocument/PMID/text()")]

    return fetched
