"""searchPubMedArticles against the local NCBI."""

import pytest

from bio_mcp.tools.pubmed import search_pubmed
from tests.support.validation import validate


def sent(ncbi, endpoint):
    return [dict(each["params"]) for each in ncbi.control.requests(endpoint)]


def test_a_search_says_what_was_searched_and_gives_pmids(live, ncbi):
    body = live.search("cancer", maxResults=7)
    validate(body, search_pubmed.output_schema)
    assert body["searchParameters"] == {
        "queryTerm": "cancer", "maxResults": 7, "sortBy": "relevance", "fetchBriefSummaries": 0,
    }  # fmt: skip
    assert body["effectiveESearchTerm"] == "cancer"
    assert body["queryTranslation"] == '"cancer"[All Fields]'
    assert body["totalFound"] > len(body["pmids"]) == body["retrievedPmidCount"] == 7
    assert (body["briefSummaries"], body["eSummaryUrl"], body["status"]) == ([], None, "complete")
    [asked] = sent(ncbi, "esearch")
    assert (asked["sort"], asked["retmax"], asked["term"]) == ("relevance", "7", "cancer")
    assert "usehistory" not in asked


@pytest.mark.parametrize(
    ("named", "sent_as"),
    [("relevance", "relevance"), ("pub_date", "pub_date"), ("author", "Author"), ("journal_name", "JournalName")],
)
def test_the_order_is_always_sent_in_pubmeds_words(live, ncbi, named, sent_as):
    live.search("cancer", sortBy=named)
    assert sent(ncbi, "esearch")[0]["sort"] == sent_as


def test_a_query_with_or_stays_within_its_filters(live, ncbi):
    body = live.search("cancer OR asthma", filterByPublicationTypes=["Review"], maxResults=1000)
    reviews = set(live.search("review[pt]", maxResults=1000)["pmids"])
    assert body["pmids"]
    assert set(body["pmids"]) <= reviews


@pytest.mark.parametrize(
    "dates", [{"minDate": "2015"}, {"maxDate": "2015/06"}, {"minDate": "2010/01/05", "maxDate": "2012"}]
)
@pytest.mark.parametrize("kind", ["pdat", "mdat", "edat"])
def test_a_range_open_at_one_end_finds_what_ncbi_has_in_it(live, ncbi, dates, kind):
    first, last = dates.get("minDate", "1800"), dates.get("maxDate", "3000")
    ends = [
        f"{first}/01/01"[:10] if len(first) == 4 else first,
        {4: f"{last}/12/31", 7: f"{last}/31"}.get(len(last), last),
    ]
    there = {str(pmid) for pmid in ncbi.control.pmids(kind, *ends)}
    body = live.search("all[filter]", dateRange={**dates, "dateType": kind}, maxResults=1000)
    assert set(body["pmids"]) == there
    assert f'"{first}"[{kind}] : "{last}"[{kind}]' in body["effectiveESearchTerm"]


def test_summaries_come_by_history_in_the_order_of_the_hits(live, ncbi):
    body = live.search("cancer", maxResults=10, fetchBriefSummaries=4)
    assert [each["pmid"] for each in body["briefSummaries"]] == body["pmids"][:4]
    assert sent(ncbi, "esearch")[0]["usehistory"] == "y"
    [asked] = sent(ncbi, "esummary")
    assert asked["WebEnv"]
    assert "id" not in asked
    assert body["eSummaryUrl"].endswith("id=" + ",".join(body["pmids"][:4]))
    assert all(each["title"] and each["source"] and each["pubDate"] for each in body["briefSummaries"])


def test_a_summary_is_short_and_dated_as_precisely_as_the_record(live, ncbi):
    [pmid] = ncbi.control.put(ARTICLE)
    [summary] = live.search(f"{pmid}[uid]", fetchBriefSummaries=1)["briefSummaries"]
    assert summary == {
        "pmid": "77",
        "title": "A trial.",
        "authors": "A1 A, A2 A, A3 A, A4 A, A5 A, et al.",
        "source": "J Test. 2021 Jun",
        "pubDate": "2021-06",
        "epubDate": None,
        "doi": None,
        "retraction": "retracted",
    }


AUTHORS = "".join(f"<Author><LastName>A{n}</LastName><Initials>A</Initials></Author>" for n in range(1, 8))
ARTICLE = (
    '<PubmedArticleSet><PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">77</PMID><Article><Journal>'
    "<JournalIssue><PubDate><Year>2021</Year><Month>Jun</Month></PubDate></JournalIssue></Journal>"
    f"<ArticleTitle>A trial.</ArticleTitle><AuthorList>{AUTHORS}</AuthorList><PublicationTypeList>"
    '<PublicationType UI="D016441">Retracted Publication</PublicationType></PublicationTypeList></Article>'
    "<MedlineJournalInfo><MedlineTA>J Test</MedlineTA></MedlineJournalInfo></MedlineCitation></PubmedArticle>"
    "</PubmedArticleSet>"
)


def test_what_pubmed_left_out_is_named_and_its_spelling_given(live):
    body = live.search("cancr AND xyzzyplugh")
    assert "xyzzyplugh" in body["droppedTerms"]
    assert any("xyzzyplugh" in each for each in body["warnings"])
    assert body["suggestedTerm"].startswith("cancer")


def test_a_filter_that_pubmed_does_not_know_is_not_taken_for_applied(live):
    body = live.search("cancer", filterByPublicationTypes=["Sonnet"])
    assert body["totalFound"] == live.search("cancer")["totalFound"]
    assert body["status"] == "partial"
    assert "'Sonnet'" in body["reasons"][0]
    assert live.search("cancer", filterByPublicationTypes=["Review"])["status"] == "complete"


@pytest.mark.parametrize("filters", [{"dateRange": {"minDate": "1900"}}, {"filterByPublicationTypes": ["Review"]}])
def test_words_that_pubmed_does_not_know_find_nothing_whatever_the_filters_let_through(live, filters):
    body = live.search("xyzzyplugh", fetchBriefSummaries=3, **filters)
    assert (body["totalFound"], body["pmids"], body["briefSummaries"]) == (0, [], [])
    assert body["droppedTerms"] == ["xyzzyplugh"]
    assert any("finds nothing by the words" in each for each in body["warnings"])
    assert (
        live.search("cancer AND xyzzyplugh", **filters)["totalFound"] == live.search("cancer", **filters)["totalFound"]
    )


def test_hits_of_which_that_cannot_be_asked_are_partial(live, ncbi):
    whole = live.search("cancer AND xyzzyplugh", dateRange={"minDate": "1900"})
    ncbi.control.fault(endpoint="esearch", nth=2, times=50, status=500)
    body = live.search("cancer AND xyzzyplugh", dateRange={"minDate": "1900"})
    assert (body["totalFound"], body["status"]) == (whole["totalFound"], "partial")
    assert "could not be asked" in body["reasons"][0]


def test_a_search_without_hits_says_so_and_is_complete(live):
    body = live.search("asthma AND 1[uid]", fetchBriefSummaries=5)
    assert (body["totalFound"], body["pmids"], body["status"], body["eSummaryUrl"]) == (0, [], "complete", None)


def test_an_address_is_of_the_server_that_was_asked_and_holds_no_secret(live, ncbi):
    body = live.search('cancer OR "heart failure"', maxResults=5, fetchBriefSummaries=2)
    for url in (body["eSearchUrl"], body["eSummaryUrl"]):
        assert url.startswith(ncbi.base_url)
        assert not any(word in url for word in ("api_key", "email", "tool=", "WebEnv", "0123456789abcdef", "@"))


# ---- when NCBI fails ----

OUTAGES = {
    "429_ip_form.json": ("NCBI_RATE_LIMIT_WARNING", "throttled"),
    "500_diagnostic.html": ("NCBI_API_ERROR", "upstream_failed"),
    "503_unable_to_route.txt": ("NCBI_API_ERROR", "upstream_failed"),
    "200_maintenance_interstitial.html": ("NCBI_API_ERROR", "upstream_failed"),
}


@pytest.mark.parametrize("name", OUTAGES)
def test_a_search_that_fails_is_an_error_and_never_zero_hits(live, ncbi, name):
    ncbi.control.fault(endpoint="esearch", recorded=name, times=20)
    error = live.search("cancer")["error"]
    code, status = OUTAGES[name]
    assert (error["code"], error["details"]["status"], error["details"]["retryable"]) == (code, status, True)


@pytest.mark.parametrize("name", OUTAGES)
def test_summaries_that_fail_leave_the_pmids_and_a_reason(live, ncbi, name):
    whole = live.search("cancer")
    ncbi.control.fault(endpoint="esummary", recorded=name, times=20)
    body = live.search("cancer", fetchBriefSummaries=3)
    validate(body, search_pubmed.output_schema)
    assert (body["pmids"], body["totalFound"]) == (whole["pmids"], whole["totalFound"])
    assert (body["status"], body["briefSummaries"]) == ("partial", [])
    assert body["reasons"][0].startswith("the PMIDs are all there, their summaries are missing: NCBI ")


def test_a_spelling_that_fails_is_not_missed(live, ncbi):
    ncbi.control.fault(endpoint="espell", status=500, times=20)
    body = live.search("cancer AND xyzzyplugh")
    assert (body["status"], body["suggestedTerm"]) == ("complete", None)
    assert body["totalFound"] > 0


def test_a_query_that_cannot_be_run_is_reported_as_invalid(live):
    error = live.search("cancer AND AND")["error"]
    assert error["code"] == "NCBI_QUERY_ERROR"
    assert error["details"]["retryable"] is False
    assert "status" not in error["details"]


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"dateRange": {"minDate": "2020/13"}}, "dateRange.minDate"),
        ({"dateRange": {"minDate": "2021", "maxDate": "2020"}}, "dateRange"),
        ({"dateRange": {"minDate": "20"}}, "dateRange.minDate"),
        ({"dateRange": {"since": "2020"}}, "dateRange.since"),
        ({"filterByPublicationTypes": [""]}, "filterByPublicationTypes"),
        ({"filterByPublicationTypes": ["x" * 101]}, "filterByPublicationTypes"),
        ({"filterByPublicationTypes": [f"type {n}" for n in range(51)]}, "filterByPublicationTypes"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_ncbi_is(live, ncbi, more, named):
    error = live.search("cancer", **more)["error"]
    assert error["code"] == "VALIDATION"
    assert named in error["message"]
    assert ncbi.control.requests() == []
