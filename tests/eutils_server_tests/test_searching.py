"""ESearch over HTTP: pages, caps, order, history, and the shapes of recorded answers."""

import json

import httpx
import pytest
from lxml import etree

from tests.eutils_server.answers import RECORDINGS
from tests.eutils_server.client import running


def shape(content):
    """Keys and types of JSON; of a list, its first item's."""
    if isinstance(content, dict):
        return {key: shape(value) for key, value in content.items()}
    if isinstance(content, list):
        return [shape(content[0])] if content else []
    return type(content).__name__


def recorded(name):
    return next(RECORDINGS.rglob(name)).read_bytes()


def tags(xml):
    return [node.tag for node in etree.fromstring(xml)]


def test_a_create_date_window_finds_what_the_records_say(ncbi, search):
    found = search(term='("2021/06/03"[crdt] : "2021/06/07"[crdt])', retmax="9999")
    assert sorted(map(int, found["idlist"])) == ncbi.control.pmids("crdt", "2021/06/03", "2021/06/07")
    assert int(found["count"]) == len(found["idlist"]) > 100


def test_a_json_answer_has_the_recorded_shape(search, client):
    answer = client.get("esearch.fcgi", params={"db": "pubmed", "retmode": "json", "term": '"cancer"[Title/Abstract]'})
    assert shape(answer.json()) == shape(json.loads(recorded("biomcp_mlh1_g67e.json")))
    assert answer.headers["content-type"] == "application/json"


def test_an_xml_answer_has_the_recorded_elements(client):
    params = {"db": "pubmed", "term": "cancer", "usehistory": "y"}
    answer = client.post("esearch.fcgi", data=params)
    assert tags(answer.content) == [
        tag for tag in tags(recorded("bc_test_esearchresult_1.xml")) if tag != "TranslationStack"
    ]
    assert answer.content.splitlines()[:2] == recorded("bc_test_esearchresult_1.xml").splitlines()[:2]


def test_nothing_found_says_so_as_recorded(client, search):
    answer = client.get("esearch.fcgi", params={"term": "abcXYZ"})
    assert tags(answer.content) == tags(recorded("bp_esearch8.xml"))
    assert etree.fromstring(answer.content).findtext("WarningList/OutputMessage") == "No items found."
    assert search(term="abcXYZ")["errorlist"] == {"phrasesnotfound": ["abcXYZ"], "fieldsnotfound": []}


def test_an_unknown_database_is_an_error_under_200(client):
    answer = client.get("esearch.fcgi", params={"db": "fleegle", "term": "x"})
    assert answer.status_code == 200
    assert b"Invalid db name specified: fleegle" in answer.content
    assert b"Invalid db name specified: fleegle" in recorded("kl_esearch.baderror.xml")


def test_an_empty_term_is_the_recorded_error(client):
    answer = client.get("esearch.fcgi", params={"term": "", "retmode": "json"})
    assert answer.json() == json.loads(recorded("200_esearch_empty_term.json"))


def test_bad_syntax_is_a_failed_backend_under_200(client):
    answer = client.get("esearch.fcgi", params={"term": "((", "retmode": "json"})
    assert answer.status_code == 200
    assert shape(answer.json()) == shape(json.loads(recorded("200_esearch_bad_syntax.json")))
    assert answer.json()["esearchresult"]["ERROR"].startswith("Search Backend failed: ")


def test_twenty_come_unless_more_are_asked_for(search):
    found = search(term="all[sb]")
    assert len(found["idlist"]) == 20
    assert [found["retmax"], found["retstart"]] == ["20", "0"]


def test_pages_join_to_the_whole(search):
    pages = [search(term="all[sb]", retmax="100", retstart=str(start))["idlist"] for start in range(0, 700, 100)]
    whole = search(term="all[sb]", retmax="9999")["idlist"]
    assert [pmid for page in pages for pmid in page] == whole
    assert pages[-1] == []


def test_the_newest_pmid_comes_first_unless_a_sort_is_named(search):
    plain = [int(pmid) for pmid in search(term="cancer", retmax="100")["idlist"]]
    assert plain == sorted(plain, reverse=True)
    others = [[int(pmid) for pmid in search(term="cancer", retmax="100", sort=sort)["idlist"]] for sort in
              ("pub_date", "pub date", "relevance", "Author", "JournalName")]  # fmt: skip
    assert others[0] == others[1]
    assert all(sorted(one) == sorted(plain) and one != plain for one in others)


@pytest.mark.parametrize("kind", ["edat", "mdat", "pdat"])
def test_mindate_and_maxdate_are_inclusive(ncbi, search, kind):
    found = search(term="all[sb]", retmax="9999", datetype=kind, mindate="2021/06/01", maxdate="2021/06/07")
    assert sorted(map(int, found["idlist"])) == ncbi.control.pmids(kind, "2021/06/01", "2021/06/07")


def test_one_bound_alone_is_ignored(search):
    assert search(term="all[sb]", mindate="2021/06/01")["count"] == search(term="all[sb]")["count"]


def test_reldate_counts_back_from_today_and_includes_it(ncbi, search):
    ncbi.control.set_today("2021/06/08")
    found = search(term="all[sb]", retmax="9999", datetype="edat", reldate="90")
    assert sorted(map(int, found["idlist"])) == ncbi.control.pmids("edat", "2021/03/10", "2021/06/08")
    assert found["querytranslation"].endswith("2021/03/10:2021/06/08[Date - Entry]")


def test_records_of_tomorrow_are_not_there_today(ncbi, search):
    ncbi.control.set_today("2021/06/06")
    assert search(term="2021/06/07[crdt]")["count"] == "0"
    ncbi.control.set_today("2021/06/07")
    assert int(search(term="2021/06/07[crdt]")["count"]) > 0


def test_history_keeps_sets_that_can_be_combined(search):
    first = search(term="cancer", usehistory="y")
    second = search(term="hasabstract", usehistory="y", WebEnv=first["webenv"])
    assert [first["querykey"], second["querykey"]] == ["1", "2"]
    assert second["webenv"] == first["webenv"]
    both = search(term="#1 AND #2", WebEnv=first["webenv"])
    assert both["count"] == search(term="cancer AND hasabstract")["count"] != "0"
    assert search(term="", query_key="1", WebEnv=first["webenv"])["count"] == first["count"]


def test_a_count_alone_can_be_asked_for(search, client):
    assert search(term="all[sb]", rettype="count").keys() == {"count"}
    assert tags(client.get("esearch.fcgi", params={"term": "all[sb]", "rettype": "count"}).content) == ["Count"]


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


def test_past_the_end_of_a_small_result_the_page_is_empty(search):
    assert search(term="all[sb]", retstart="20000")["idlist"] == []


ARTICLE = """<PubmedArticleSet><PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">7</PMID>
<DateRevised><Year>2020</Year><Month>01</Month><Day>02</Day></DateRevised><Article><ArticleTitle>Seven.</ArticleTitle>
</Article></MedlineCitation><PubmedData><History><PubMedPubDate PubStatus="entrez"><Year>2020</Year><Month>1</Month>
<Day>1</Day></PubMedPubDate></History><ArticleIdList><ArticleId IdType="pubmed">7</ArticleId></ArticleIdList>
</PubmedData></PubmedArticle></PubmedArticleSet>"""
