"""ELink, EInfo and the small utilities over HTTP."""

import json

import httpx
import pytest
from lxml import etree

from tests.support.eutils_server.answers import RECORDINGS

RECORDED = sorted((RECORDINGS / "elink").glob("ik_*.json"))


@pytest.fixture
def linked(client):
    def linked(*pairs):
        params = httpx.QueryParams((("dbfrom", "pubmed"), ("retmode", "json"), *pairs))
        return client.get("elink.fcgi", params=params).json()["linksets"]

    return linked


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_pmid_is_answered_as_recorded(linked, path):
    expected = json.loads(path.read_text())["linksets"]
    asked = [("db", expected[0]["linksetdbs"][0]["dbto"]), ("id", expected[0]["ids"][0])]
    if "citations" in path.name:
        asked.append(("linkname", "pubmed_pubmed_citedin"))
    found = linked(*asked)
    recorded_names = {one["linkname"] for one in expected[0]["linksetdbs"]}
    found[0]["linksetdbs"] = [one for one in found[0]["linksetdbs"] if one["linkname"] in recorded_names]
    assert found == expected


def test_comma_joined_ids_are_merged_and_repeated_ones_are_not(linked):
    name = ("linkname", "pubmed_pubmed_citedin")
    merged = linked(("id", "25760099,34567890"), name)
    assert [one["ids"] for one in merged] == [["25760099", "34567890"]]
    assert merged[0]["linksetdbs"][0]["links"] == ["29232834", "40421132", "40226497"]
    apart = linked(("id", "25760099"), ("id", "34567890"), name)
    assert [one["ids"] for one in apart] == [["25760099"], ["34567890"]]


def citing_pair(ncbi, client):
    """A record of the sample and the first PMID it cites."""
    body = client.post("efetch.fcgi", data={"id": ",".join(map(str, ncbi.control.pmids()))}).content
    for article in etree.fromstring(body):
        cited = article.xpath("PubmedData//Reference//ArticleId[@IdType='pubmed']/text()")
        if cited:
            return article.findtext("MedlineCitation/PMID"), cited[0]
    raise AssertionError("no record of the sample cites another")


def test_references_and_citations_are_worked_out_from_the_records(ncbi, client, linked):
    citing, cited = citing_pair(ncbi, client)
    references = linked(("id", citing), ("linkname", "pubmed_pubmed_refs"))[0]["linksetdbs"][0]
    assert references["links"][0] == cited
    back = linked(("id", cited), ("linkname", "pubmed_pubmed_citedin"))[0]["linksetdbs"][0]
    assert citing in back["links"]


def test_the_nearest_neighbour_of_an_article_is_itself(ncbi, linked):
    pmid = str(ncbi.control.pmids()[0])
    neighbours = linked(("id", pmid), ("linkname", "pubmed_pubmed"))[0]["linksetdbs"][0]["links"]
    assert neighbours[0] == pmid
    assert len(set(neighbours)) == len(neighbours)


def test_scores_fall_and_have_the_shape_of_the_dtd(ncbi, client):
    params = {"dbfrom": "pubmed", "cmd": "neighbor_score", "linkname": "pubmed_pubmed", "id": "25760099"}
    root = etree.fromstring(client.get("elink.fcgi", params=params).content)
    expected = etree.parse(RECORDINGS / "elink" / "syn_neighbor_score.xml").getroot()
    assert [node.tag for node in root[0]] == [node.tag for node in expected[0]]
    scores = [int(text) for text in root.xpath("//Score/text()")]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 2_147_483_647


def test_einfo_has_the_recorded_fields_and_the_catalogues_count(ncbi, client):
    content = client.get("einfo.fcgi", params={"db": "pubmed", "retmode": "json"}).json()
    recorded = json.loads((RECORDINGS / "einfo" / "ik_pubmed_info.json").read_text())
    info, expected = content["einforesult"]["dbinfo"][0], recorded["einforesult"]["dbinfo"][0]
    assert info["fieldlist"] == expected["fieldlist"]
    assert info["count"] == str(len(ncbi.control.pmids()))
    assert b"Can not retrieve DbInfo for db=fleegle" in client.get("einfo.fcgi", params={"db": "fleegle"}).content


def test_a_misspelt_word_gets_the_nearest_of_the_titles(client):
    body = client.get("espell.fcgi", params={"db": "pubmed", "term": "cancre patients"}).content
    assert etree.fromstring(body).findtext("CorrectedQuery") == "cancer patients"


def test_a_citation_finds_its_pmid_and_a_wrong_one_says_why(ncbi, client):
    pmid = ncbi.control.pmids("crdt", "1900", "2005/12/31")[0]
    root = etree.fromstring(ncbi.control.record(pmid))
    paths = (".//MedlineTA", ".//PubDate/Year", ".//Volume")
    journal, year, volume = (root.findtext(path) or "" for path in paths)
    page = (root.findtext(".//MedlinePgn") or "").split("-")[0]
    lines = f"{journal}|{year}|{volume}|{page}||one|\rfake journal|2000|1|1||ref2|"
    answer = client.get("ecitmatch.cgi", params={"db": "pubmed", "retmode": "xml", "bdata": lines}).text.splitlines()
    assert answer[0].endswith(f"|one|{pmid}")
    recorded = (RECORDINGS / "shapes" / "ik_citmatch_mixed.txt").read_text().splitlines()
    assert answer[1] == recorded[1]
