"""ESummary over HTTP: the JSON of version 0.3 beside its recordings, errors beside good results."""

import json

import pytest
from lxml import etree

from tests.support.eutils_server.answers import RECORDINGS


@pytest.fixture
def summarised(client):
    def summarised(ids, **params):
        answer = client.post("esummary.fcgi", data={"db": "pubmed", "retmode": "json", "id": ids} | params)
        assert answer.status_code == 200
        return answer.json()

    return summarised


def test_a_summary_says_what_the_record_says(ncbi, summarised):
    pmid = ncbi.control.pmids("crdt", "2021/06/07", "2021/06/07")[0]
    root = etree.fromstring(ncbi.control.record(pmid))
    entry = summarised(str(pmid))["result"][str(pmid)]
    assert entry["title"] == "".join(root.find(".//ArticleTitle").itertext())
    assert [author["name"].split()[0] for author in entry["authors"]][:1] == [
        root.findtext(".//Author/LastName").split()[0]
    ]
    assert entry["source"] == root.findtext(".//MedlineTA")
    assert {stamp["pubstatus"] for stamp in entry["history"]} >= {"entrez", "pubmed", "medline"}
    assert entry["articleids"][0] == {"idtype": "pubmed", "idtypen": 1, "value": str(pmid)}


def test_the_common_fields_have_the_recorded_types(ncbi, summarised):
    recorded = json.loads((RECORDINGS / "shapes" / "ast_pmc.json").read_text())["result"]["5562999"]
    pmid = str(ncbi.control.pmids()[-1])
    entry = summarised(pmid)["result"][pmid]
    shared = recorded.keys() & entry.keys()
    assert shared >= {"uid", "pubdate", "epubdate", "source", "authors", "title", "volume", "pages", "articleids"}
    assert {key: type(entry[key]) for key in shared} == {key: type(recorded[key]) for key in shared}


def test_an_unknown_pmid_is_an_entry_with_an_error(ncbi, summarised):
    known = str(ncbi.control.pmids()[0])
    result = summarised(f"{known},45645635463563546")["result"]
    assert result["45645635463563546"] == {"uid": "45645635463563546", "error": "cannot get document summary"}
    assert result["uids"] == [known, "45645635463563546"]
    assert "title" in result[known]


def test_a_malformed_id_is_named_beside_the_good_results(ncbi, summarised):
    known = str(ncbi.control.pmids()[0])
    content = summarised(f"{known},PMC345345")
    assert content["error"] == f"Invalid uid PMC345345 at position={len(known)}"
    assert content["result"]["uids"] == [known]


def test_more_than_500_ids_bring_only_an_error(ncbi, summarised):
    pmids = ncbi.control.pmids()
    assert len(summarised(",".join(map(str, pmids[:500])))["result"]["uids"]) == 500
    content = summarised(",".join(map(str, pmids[:501])))
    assert content.keys() == {"header", "error"}
    assert content["error"].startswith("Too many UIDs in request")


def test_no_ids_are_the_recorded_error(summarised):
    recorded = json.loads((RECORDINGS / "errors" / "200_esummary_empty_ids.json").read_text())
    assert summarised("") == recorded


def test_every_record_of_the_sample_can_be_summarised(ncbi, summarised):
    pmids = ncbi.control.pmids()
    for start in range(0, len(pmids), 500):
        part = [str(pmid) for pmid in pmids[start : start + 500]]
        result = summarised(",".join(part))["result"]
        assert all("error" not in result[pmid] and result[pmid]["title"] is not None for pmid in part)
