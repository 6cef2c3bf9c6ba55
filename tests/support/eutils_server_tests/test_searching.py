"""ESearch over HTTP: pages, caps, order, history, and the shapes of recorded answers."""

import json

import httpx
import pytest
from lxml import etree

from tests.support.eutils_server.answers import RECORDINGS
from tests.support.eutils_server.client import running


def shape(content):
    """Keys and types of JSON; of a list, its first item's."""
    if isinstance(content, dict):
        return {key: shape(value) for key, value in content.items()}
    if isinstance(content, list):
        return [shape(content[0])] if content else []
    return type(content).__name__


def recorded(name):
    return next(RECORDINGS.rglob(name)).read_bytes()


def test_a_create_date_window_finds_what_the_records_say(ncbi, search):
    found = search(term='("2021/06/03"[crdt] : "2021/06/07"[crdt])', retmax="9999")
    assert sorted(map(int, found["idlist"])) == ncbi.control.pmids("crdt", "2021/06/03", "2021/06/07")
    assert int(found["count"]) == len(found["idlist"]) > 100


def test_a_json_answer_has_the_recorded_shape(search, client):
    answer = client.get("esearch.fcgi", params={"db": "pubmed", "retmode": "json", "term": '"cancer"[Title/Abstract]'})
    assert shape(answer.json()) == shape(json.loads(recorded("biomcp_mlh1_g67e.json")))
    assert answer.headers["content-type"] == "application/json"


def test_an_empty_term_is_the_recorded_error(client):
    answer = client.get("esearch.fcgi", params={"term": "", "retmode": "json"})
    assert answer.json() == json.loads(recorded("200_esearch_empty_term.json"))


def test_bad_syntax_is_a_failed_backend_under_200(client):
    answer = client.get("esearch.fcgi", params={"term": "((", "retmode": "json"})
    assert answer.status_code == 200
    assert shape(answer.json()) == shape(json.loads(recorded("200_esearch_bad_syntax.json")))
    assert answer.json()["esearchresult"]["ERROR"].startswith("Search Backend failed: ")


@pytest.mark.parametrize("kind", ["edat", "mdat", "pdat"])
def test_mindate_and_maxdate_are_inclusive(ncbi, search, kind):
    found = search(term="all[sb]", retmax="9999", datetype=kind, mindate="2021/06/01", maxdate="2021/06/07")
    assert sorted(map(int, found["idlist"])) == ncbi.control.pmids(kind, "2021/06/01", "2021/06/07")


def test_only_the_first_9999_can_be_had():
    with running() as ncbi, httpx.Client(base_url=ncbi.base_url, timeout=30) as client:
        ncbi.control.put(ARTICLE)
        ncbi.control.clone(12_001, "2021/06/08", sources=[7])
        term = {"term": "2021/06/08[crdt]", "retmode": "json"}
        found = client.get("esearch.fcgi", params=term | {"retmax": "20000", "usehistory": "y"}).json()["esearchresult"]
        assert [found["count"], len(found["idlist"])] == ["12001", 9_999]
        assert "Restrictions" in found["warninglist"]["outputmessages"][0]
        last = client.get("esearch.fcgi", params=term | {"retmax": "1000", "retstart": "9998"}).json()
        assert len(last["esearchresult"]["idlist"]) == 1
        beyond = client.get("esearch.fcgi", params=term | {"retstart": "9999"})
        assert beyond.status_code == 200
        with pytest.raises(json.JSONDecodeError):
            json.loads(beyond.text)
        error = etree.fromstring(recorded("200_esearch_retstart_9999.xml")).findtext("ERROR")
        assert json.loads(beyond.text, strict=False)["esearchresult"]["ERROR"] == error
        in_xml = client.get("esearch.fcgi", params={"term": term["term"], "retstart": "9999"})
        assert in_xml.content.strip() == recorded("200_esearch_retstart_9999.xml").strip()
        history = {"WebEnv": found["webenv"], "query_key": found["querykey"]}
        refused = client.post("efetch.fcgi", data=history | {"retstart": "9999"})
        assert [refused.status_code, refused.content.strip()] == [
            400,
            recorded("400_efetch_history_retstart.xml").strip(),
        ]


ARTICLE = """<PubmedArticleSet><PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">7</PMID>
<DateRevised><Year>2020</Year><Month>01</Month><Day>02</Day></DateRevised><Article><ArticleTitle>Seven.</ArticleTitle>
</Article></MedlineCitation><PubmedData><History><PubMedPubDate PubStatus="entrez"><Year>2020</Year><Month>1</Month>
<Day>1</Day></PubMedPubDate></History><ArticleIdList><ArticleId IdType="pubmed">7</ArticleId></ArticleIdList>
</PubmedData></PubmedArticle></PubmedArticleSet>"""
