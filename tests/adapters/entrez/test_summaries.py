import json

import httpx
import pytest

from bio_mcp.adapters.entrez.utilities import read_summaries
from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports.ncbi import DocSummary
from tests.adapters.entrez.recordings import answer
from tests.adapters.entrez.scripted import eutils, message

ENTRY = {
    "uid": "30833575",
    "pubdate": "1998 Dec-1999 Jan",
    "epubdate": "1998 Nov 5",
    "source": "J Test",
    "authors": [
        {"name": "Doe J", "authtype": "Author", "clusterid": ""},
        {"name": "The Trial Group", "authtype": "CollectiveName"},
    ],
    "title": "Loss of &lt;i&gt;TP53&lt;/i&gt; in H&lt;sub&gt;2&lt;/sub&gt;O at p&amp;lt;0.05.",
    "volume": "12",
    "issue": "",
    "pages": "525-30",
    "lang": ["eng"],
    "pubtype": ["Journal Article", "Review"],
    "articleids": [
        {"idtype": "pubmed", "idtypen": 1, "value": "30833575"},
        {"idtype": "doi", "idtypen": 3, "value": "10.1/x"},
        {"idtype": "pmcid", "idtypen": 5, "value": "pmc-id: PMC123;"},
    ],
    "history": [
        {"pubstatus": "entrez", "date": "2019/03/06 06:00"},
        {"pubstatus": "pubmed", "date": "2019/03/07 06:00"},
        {"pubstatus": "medline", "date": "2019/03/08 06:00"},
    ],
    "attributes": ["Has Abstract"],
    "pmcrefcount": 7,
    "fulljournalname": "The journal of tests",
    "sortpubdate": "1998/12/01 00:00",
}


@pytest.mark.parametrize(
    ("said_of_it", "standing"),
    [
        ({}, RetractionStatus.CLEAR),
        ({"pubtype": ["Journal Article", "Retracted Publication"]}, RetractionStatus.RETRACTED),
        ({"pubtype": ["Retraction of Publication"]}, RetractionStatus.NOTICE),
        ({"references": [{"reftype": "Retraction in", "pmid": "2"}]}, RetractionStatus.RETRACTED),
        ({"references": [{"reftype": "Expression of concern in"}]}, RetractionStatus.CONCERN),
        ({"references": [{"reftype": "Erratum in"}, {"reftype": "Comment in"}]}, RetractionStatus.CORRECTED),
        ({"references": [{"reftype": "RetractionIn"}, {}]}, RetractionStatus.RETRACTED),
    ],
)
def test_a_summary_says_whether_the_paper_still_stands(said_of_it, standing):
    client, _ = eutils(message({"result": {"uids": ["30833575"], "30833575": {**ENTRY, **said_of_it}}}))
    assert client.esummary_batch(["30833575"])[0].retraction is standing


def summaries_of(request: httpx.Request) -> httpx.Response:
    ids = httpx.QueryParams(request.content.decode())["id"].split(",")
    return message({"result": {"uids": ids, **{pmid: {**ENTRY, "uid": pmid} for pmid in ids}}})


def test_a_summary_holds_what_the_contract_names():
    client, ncbi = eutils(summaries_of)
    assert client.esummary_batch(["30833575"]) == [
        DocSummary(
            pmid="30833575",
            title="Loss of TP53 in H₂O at p<0.05.",
            journal="The journal of tests",
            pub_types=("Journal Article", "Review"),
            pdat="1998 Dec-1999 Jan",
            edat="2019-03-07T06:00",
            pmcid="PMC123",
            authors=("Doe J", "The Trial Group"),
            source="J Test",
            epdat="1998 Nov 5",
            doi="10.1/x",
            volume="12",
            pages="525-30",
            languages=("eng",),
            retraction=RetractionStatus.CLEAR,
        )
    ]
    assert ncbi.forms[0]["version"] == ["2.0"]


def test_good_summaries_survive_a_bad_id_beside_them():
    found = read_summaries(answer("esummary/ast_pmc.json"))
    assert [summary.pmid for summary in found.found] == ["5562999", "345853", "3456745"]
    assert found.found[0].pmcid == "PMC5562999"
    assert found.missing == {"45645635463563546": "PubMed has no summary of it"}


def test_summaries_come_in_the_order_asked_for_and_unknown_ones_are_named():
    entries = {"1": {**ENTRY, "uid": "1"}, "3": {"uid": "3", "error": "cannot get document summary"}, "2": ENTRY}
    client, _ = eutils(message({"result": {"uids": ["3", "2", "1"], **entries}}))
    summaries = client.esummary(["1", "2", "3", "1"])
    assert [summary.pmid for summary in summaries.found] == ["1", "2"]
    assert list(summaries.missing) == ["3"]


def test_only_what_is_denied_by_name_is_denied():
    entries = {
        "1": {"uid": "1", "error": "cannot get document summary"},
        "2": {"uid": "2", "error": "the backend is busy"},
        "3": {"uid": "1", "error": "cannot get document summary"},
    }
    client, _ = eutils(message({"result": {"uids": ["1", "2", "3"], **entries}}))
    summaries = client.esummary(["1", "2", "3"])
    assert summaries.missing.keys() == {"1", "2", "3"}
    assert summaries.denied == {"1"}


def test_many_pmids_go_in_several_requests():
    pmids = [str(number) for number in range(1, 502)]
    client, ncbi = eutils(*[summaries_of] * 3)
    assert [summary.pmid for summary in client.esummary_batch(pmids)] == pmids
    assert [len(form["id"][0].split(",")) for form in ncbi.forms] == [200, 200, 101]


def test_an_answer_that_passes_over_a_pmid_is_asked_for_again():
    short = message({"result": {"uids": ["1"], "1": ENTRY}})
    client, ncbi = eutils(short, summaries_of)
    assert len(client.esummary_batch(["1", "2"])) == 2
    assert len(ncbi.requests) == 2


@pytest.mark.parametrize("content", [{"result": {}}, {"result": []}, {"result": {"uids": "1"}}])
def test_an_answer_without_uids_is_no_empty_result(content):
    client, _ = eutils(*[message(content) for _ in range(6)])
    with pytest.raises(NcbiUnreadable):
        client.esummary(["1"])


def test_a_summary_with_almost_nothing_in_it_is_read():
    body = json.dumps({"result": {"uids": ["1"], "1": {"uid": "1", "authors": None, "pmcrefcount": ""}}})
    client, _ = eutils(message(body))
    assert client.esummary_batch(["1"]) == [DocSummary(pmid="1", retraction=RetractionStatus.CLEAR)]
