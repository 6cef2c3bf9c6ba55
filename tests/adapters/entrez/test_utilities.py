"""The utilities beside fetching: searches, summaries, links, spelling, citations and ids."""

import json
from datetime import date

import httpx
import pytest

from bio_mcp.adapters.entrez.client import EntrezLookup, read_ids
from bio_mcp.adapters.entrez.transport import Answer, BeyondReach
from bio_mcp.adapters.entrez.utilities import read_links, read_matches, read_summaries
from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports.ncbi import (
    CITED_IN,
    SIMILAR,
    ArticleIds,
    Citation,
    CitationMatch,
    DocSummary,
    Link,
    LinkSet,
    Spelling,
)
from tests.adapters.entrez.recordings import answer, entries
from tests.adapters.entrez.scripted import eutils, found, message


def test_a_search_says_what_pubmed_made_of_it():
    client, ncbi = eutils(message(answer("esearch/biomcp_mlh1_g67e.json").body))
    page = client.esearch("MLH1 G67E")
    assert page.count == 1
    assert page.ids == ("18033691",)
    assert page.translation == '"MLH1"[Title/Abstract] AND "G67E"[Title/Abstract]'
    assert page.warnings == ()
    assert page.web_env is None
    assert ncbi.requests[0].url.path == "/eutils/esearch.fcgi"
    assert ncbi.forms[0]["db"] == ["pubmed"]


@pytest.mark.parametrize(
    ("sent", "day"),
    [
        ("Thu, 01 Jan 2026 04:59:00 GMT", date(2025, 12, 31)),
        ("Thu, 01 Jan 2026 05:00:00 GMT", date(2026, 1, 1)),
        ("tomorrow", None),
        (None, None),
    ],
    ids=["still yesterday at NCBI", "a new day at NCBI", "no date", "no header"],
)
def test_a_search_tells_the_day_that_it_is_at_ncbi(sent, day):
    answer = found(1)
    answer.headers.update({"Date": sent} if sent else {})
    client, _ = eutils(answer)
    assert client.esearch("asthma").day == day


@pytest.mark.parametrize("sort", ["relevance", "pub_date", "Author", "JournalName"])
def test_a_sort_order_is_always_sent(sort):
    client, ncbi = eutils(found(1), found(1))
    client.esearch("asthma")
    client.esearch("asthma", sort=sort)
    assert [form["sort"] for form in ncbi.forms] == [["pub_date"], [sort]]


def test_history_and_dates_are_sent_when_asked_for():
    client, ncbi = eutils(found(1, webenv="MCID_1", querykey="2"), found(1))
    page = client.esearch("asthma", history=True, dates=("edat", "2024/01/01", "2024/01/31"))
    client.esearch("asthma")
    assert (page.web_env, page.query_key) == ("MCID_1", "2")
    assert ncbi.forms[0]["usehistory"] == ["y"]
    assert [ncbi.forms[0][name] for name in ("datetype", "mindate", "maxdate")] == [
        ["edat"],
        ["2024/01/01"],
        ["2024/01/31"],
    ]
    assert not {"usehistory", "datetype", "mindate", "maxdate"} & ncbi.forms[1].keys()


TWO = {"ids": ["1", "2"]}
ASKED = {
    "esearch": lambda client: client.esearch("asthma"),
    "esummary": lambda client: client.esummary(["1"]),
    "elink": lambda client: client.elink(["1", "2"]),
    "einfo": lambda client: client.einfo(),
}
UNREADABLE = [
    *(("esearch", {"esearchresult": each}) for each in ({}, {"count": "1"}, {"idlist": []}, [], "text")),
    ("esearch", {"esearchresult": {"count": "x", "idlist": []}}),
    ("esearch", {"esearchresult": {"count": "1", "idlist": ["abc"]}}),
    *(("esummary", {"result": each}) for each in ({}, [], {"uids": "1"})),
    *(("elink", {"linksets": each}) for each in ([], [{"ids": ["1"]}], [TWO], [TWO, {"ids": ["2"]}], [{}], None)),
    ("elink", {"linksets": [{"ids": ["1"], "linksetdbs": [{"linkname": SIMILAR}]}, {"ids": ["2"]}]}),
    *(("einfo", {"einforesult": each}) for each in ({"dbinfo": []}, {"dbinfo": [{}]}, {})),
]


@pytest.mark.parametrize(("utility", "content"), UNREADABLE)
def test_an_answer_that_lacks_or_mixes_up_its_members_is_no_empty_result(utility, content):
    client, ncbi = eutils(*[message(content) for _ in range(6)])
    with pytest.raises(NcbiUnreadable):
        ASKED[utility](client)
    assert len(ncbi.requests) == 6


def search(**arguments):
    return lambda client: client.esearch(**{"term": "a", **arguments})


def match(*citations):
    return lambda client: EntrezLookup(client, client).ecitmatch(citations)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (search(term="  "), "term is empty"),
        (search(term="asthma \ud800"), "surrogate"),
        (search(sort="date"), "choose one of relevance, pub_date, Author, JournalName"),
        (search(retstart=-1), "negative"),
        (search(retmax=-1), "negative"),
        (search(dates=("EDAT", "2024/01/01", "2024/01/31")), "choose one of pdat, edat, mdat"),
        (search(dates=("edat", "2024-01-01", "2024/01/31")), "YYYY/MM/DD"),
        (search(dates=("edat", "2024/01/01", "")), "together"),
        (lambda client: client.elink(["1"], command="prlinks"), "neighbor, neighbor_score"),
        (lambda client: client.efetch_text(["1"], style="json"), "medline, xml"),
        (lambda client: client.espell(" "), None),
        (match(), None),
        (match(Citation("a|b")), None),
        (match(Citation(author="x\ry")), None),
    ],
)
def test_what_ncbi_would_misread_is_refused_before_it_is_sent(ask, sentence):
    client, ncbi = eutils()
    with pytest.raises(InvalidInput, match=sentence):
        ask(client)
    assert ncbi.requests == []


def test_dropped_terms_become_warnings():
    client, _ = eutils(
        found(
            1,
            errorlist={"phrasesnotfound": ["p.E1317Q"], "fieldsnotfound": ["gene"]},
            warninglist={
                "phrasesignored": ["the"],
                "quotedphrasesnotfound": ['"blue cancer"'],
                "outputmessages": ["No items found.", "No items found."],
            },
        )
    )
    assert client.esearch("APC p.E1317Q").warnings == (
        "PubMed does not know 'p.E1317Q' and left it out of the search",
        "PubMed has no search field 'gene' and searched without it",
        "PubMed ignored 'the' as too common or not searchable",
        "PubMed does not know the phrase '\"blue cancer\"' and searched its words instead",
    )


def test_a_short_page_is_asked_for_again():
    client, ncbi = eutils(found(1, 2, count=3), found(1, 2, 3, count=3))
    assert client.esearch("asthma").ids == ("1", "2", "3")
    assert len(ncbi.requests) == 2


@pytest.mark.parametrize(
    ("retstart", "retmax", "count", "expected"),
    [
        (0, 20, 12_001, 20),
        (0, 9_999, 12_001, 9_999),
        (0, 100_000, 12_001, 9_999),
        (9_998, 1_000, 12_001, 1),
        (10, 20, 15, 5),
        (20, 20, 15, 0),
        (9_999, 20, 9_999, 0),
        (0, 0, 500, 0),
    ],
)
def test_a_page_is_whole_when_it_holds_what_pubmed_can_give(retstart, retmax, count, expected):
    whole = range(1, expected + 1)
    client, _ = eutils(found(*whole, count=count))
    assert len(client.esearch("asthma", retstart=retstart, retmax=retmax).ids) == expected
    if expected:
        client, _ = eutils(*[found(*whole[1:], count=count) for _ in range(6)])
        with pytest.raises(NcbiUnreadable):
            client.esearch("asthma", retstart=retstart, retmax=retmax)


def test_a_delta_is_every_pmid_of_the_window():
    client, ncbi = eutils(found(3, 2, 1))
    assert client.esearch_delta("asthma", "2024/01/01", "2024/01/02") == ["3", "2", "1"]
    assert ncbi.forms[0]["datetype"] == ["edat"]
    assert ncbi.forms[0]["retmax"] == ["9999"]


def test_a_delta_that_cannot_be_read_whole_is_refused():
    client, _ = eutils(found(*range(1, 10_000), count=12_001))
    with pytest.raises(BeyondReach, match="12,001 records") as refused:
        client.esearch_delta("asthma", "2024/01/01", "2024/12/31")
    assert refused.value.details["count"] == 12_001


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


def test_a_summary_with_almost_nothing_in_it_is_read():
    body = json.dumps({"result": {"uids": ["1"], "1": {"uid": "1", "authors": None, "pmcrefcount": ""}}})
    client, _ = eutils(message(body))
    assert client.esummary_batch(["1"]) == [DocSummary(pmid="1", retraction=RetractionStatus.CLEAR)]


def test_each_pmid_keeps_its_own_links():
    sets = [
        {"ids": ["1"], "linksetdbs": [{"dbto": "pubmed", "linkname": CITED_IN, "links": ["8", "9"]}]},
        {"ids": ["2"]},
    ]
    client, ncbi = eutils(message({"linksets": sets[::-1]}))
    assert client.elink(["1", "2"], link_name=CITED_IN) == (LinkSet("1", (Link("8"), Link("9"))), LinkSet("2"))
    assert ncbi.forms[0]["id"] == ["1", "2"]
    assert ncbi.forms[0]["linkname"] == [CITED_IN]


def test_scores_are_read_from_xml():
    client, ncbi = eutils(message(answer("elink/syn_neighbor_score.xml").body))
    (found,) = client.elink(["25760099"], command="neighbor_score")
    assert found.links == (Link("25760099", 2_147_483_647), Link("26846451", 37_012_745))
    assert ncbi.forms[0]["cmd"] == ["neighbor_score"]


@pytest.mark.parametrize(
    "entry",
    [entry for entry in entries() if entry["file"].startswith("elink/ik_") and "multiple" not in entry["file"]],
    ids=lambda entry: entry["file"],
)
def test_every_recorded_link_set_is_read(entry):
    recorded = answer(entry["file"])
    (linkset,) = recorded.json["linksets"]
    for listed in linkset.get("linksetdbs", []):
        (read,) = read_links(recorded, linkset["ids"], listed["linkname"])
        assert [link.uid for link in read.links] == listed["links"]


def test_no_links_are_an_empty_set():
    assert read_links(answer("elink/mp_medgen_elink_pubmed_0_entries.xml"), ["0"], SIMILAR) == (LinkSet("0"),)


MANN = Citation("proc natl acad sci u s a", "1991", "88", "3248", "mann bj")
FAKE = Citation("fake journal", "2000")


def test_a_database_is_described_with_its_fields():
    client, ncbi = eutils(message(answer("einfo/ik_pubmed_info.json").body))
    info = client.einfo()
    assert (info.name, info.menu_name, info.count) == ("pubmed", "PubMed", 38_997_024)
    assert info.last_update == "2025/06/25 07:12"
    edat = next(field for field in info.fields if field.name == "EDAT")
    assert (edat.full_name, edat.is_date, edat.is_numerical, edat.terms) == ("Date - Entry", True, False, None)
    assert "pubmed_pubmed_refs" in {link.name for link in info.links}
    assert ncbi.forms[0]["db"] == ["pubmed"]


@pytest.mark.parametrize(("corrected", "expected"), [("asthma", "asthma"), ("", None), ("asthmaa", None)])
def test_a_spelling_is_given_only_where_it_differs(corrected, expected):
    body = f"<eSpellResult><Query>asthmaa</Query><CorrectedQuery>{corrected}</CorrectedQuery><ERROR/></eSpellResult>"
    client, _ = eutils(message(body))
    assert client.espell("asthmaa") == Spelling("asthmaa", expected)


def test_citations_are_matched_in_order_by_their_own_numbers():
    body = "fake journal|2000||||c1|NOT_FOUND;INVALID_JOURNAL\nproc natl|1991|88|3248|mann bj|c0|2014248\n"
    client, ncbi = eutils(message(body))
    assert EntrezLookup(client, client).ecitmatch([MANN, FAKE]) == [
        CitationMatch(MANN, "2014248"),
        CitationMatch(FAKE, None, "NOT_FOUND;INVALID_JOURNAL"),
    ]
    assert ncbi.requests[0].url.path.endswith("/ecitmatch.cgi")
    assert ncbi.forms[0]["bdata"] == ["proc natl acad sci u s a|1991|88|3248|mann bj|c0|\rfake journal|2000||||c1|"]


def test_an_unanswered_citation_is_not_taken_for_not_found():
    with pytest.raises(NcbiUnreadable):
        read_matches(answer("ecitmatch/ik_citmatch_mixed.txt"), [MANN])


def converted(*records):
    return Answer(200, {}, json.dumps({"status": "ok", "records": list(records)}).encode(), "idconv")


WHOLE = {"pmcid": "PMC3531190", "pmid": 23193287, "doi": "10.1093/nar/gks1195", "requested-id": "23193287"}
IDS = ArticleIds("23193287", "PMC3531190", "10.1093/nar/gks1195")


@pytest.mark.parametrize("written", [{}, {"pmid": "23193287"}, {"pmcid": "PMC3531190.1"}])
def test_numbers_and_strings_are_both_ids_and_a_version_is_left_out_of_a_pmcid(written):
    assert read_ids(converted({**WHOLE, **written}), ["23193287"], "pmid") == {"23193287": IDS}


def test_an_older_answer_that_does_not_repeat_the_question_is_read_by_its_id():
    row = {name: value for name, value in WHOLE.items() if name != "requested-id"}
    assert read_ids(converted(row), ["10.1093/NAR/gks1195"], "doi") == {"10.1093/NAR/gks1195": IDS}


def test_what_pmc_does_not_have_is_absent():
    row = {"requested-id": "1", "status": "error", "errmsg": "Identifier not found in PMC"}
    assert read_ids(converted(row), ["1"], "pmid") == {}


@pytest.mark.parametrize(
    "broken",
    [converted(), converted(WHOLE), Answer(200, {}, b"{}", "idconv"), Answer(200, {}, b'{"records": [7]}', "idconv")],
)
def test_an_answer_that_leaves_an_id_out_is_no_answer(broken):
    with pytest.raises(NcbiUnreadable):
        read_ids(broken, ["1"], "pmid")
