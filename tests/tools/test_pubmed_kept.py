"""The resources about PubMed, and the live tools over a cache, which give the same answers."""

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from mcp.types import LATEST_PROTOCOL_VERSION

from bio_mcp.call import call, read
from bio_mcp.doors.mcp.server import contents
from bio_mcp.literature.clock import utc
from bio_mcp.tools import pubmed
from bio_mcp.tools.pubmed import MCP_VERSION, pubmed_info, pubmed_stats
from tests.adapters.caching.cached_ncbi import LIFETIMES, cached_at
from tests.support.validation import validate
from tests.tools.live import IDENTITY, KEY


def info(live):
    body = read(pubmed_info, {}, live).body
    validate(body, pubmed_info.output.model_json_schema())
    return body


def test_the_first_reader_has_ncbi_asked_and_the_next_does_not(live, ncbi):
    first, second = info(live), info(live)
    assert first["operationalStatus"]["ncbiStatus"] == "Nominal"
    assert first["operationalStatus"] == second["operationalStatus"]
    assert [each["endpoint"] for each in ncbi.control.requests()] == ["einfo"]


def test_after_a_minute_ncbi_is_asked_again(live, ncbi):
    info(live)
    live.now = lambda: datetime.now().astimezone() + timedelta(seconds=61)
    info(live)
    assert len(ncbi.control.requests("einfo")) == 2


def test_who_we_are_and_what_we_keep_to_is_reported_without_the_key(live):
    body = info(live)
    assert body["contactEmail"] == IDENTITY["email"]
    assert body["ncbiCompliance"]["toolIdentifier"] == IDENTITY["tool"]
    assert body["ncbiCompliance"]["apiUsageStatus"] == "NCBI API Key in use"
    assert "<10 requests/sec (with API key)" in body["ncbiCompliance"]["currentRateLimitAdherence"]
    assert body["operationalStatus"]["internalQueueLength"] == 0
    assert body["operationalStatus"]["budgetLeft"] is not None
    assert KEY not in json.dumps(body)


def test_an_outage_is_reported_and_is_no_failure_of_the_resource(live, ncbi):
    ncbi.control.fault(status=500, times=20)
    reported = info(live)["operationalStatus"]
    assert reported["ncbiStatus"] == "Failing"
    assert reported["lastNcbiConnectivityCheck"] == reported["lastFailure"]
    ncbi.control.clear_faults()
    live.search("cancer")
    assert info(live)["operationalStatus"]["ncbiStatus"] == "Nominal"


def test_statistics_are_einfos(live, ncbi):
    body = read(pubmed_stats, {}, live).body
    validate(body, pubmed_stats.output.model_json_schema())
    assert body["totalRecordCount"] == len(ncbi.control.pmids())
    today = live.pubmed.einfo().last_update
    assert body["lastUpdate"] == utc(today.replace("/", "-").replace(" ", "T"))
    assert body["lastUpdate"].endswith("Z")
    title = next(each for each in body["availableSearchFields"] if each["name"] == "TITL")
    assert (title["fullName"], title["isDate"], title["isHidden"]) == ("Title", False, False)
    counts = [each["termCount"] for each in body["availableSearchFields"]]
    assert all(count is None or count.isdecimal() for count in counts)
    assert "pubmed_pubmed_refs" in {each["name"] for each in body["availableLinkNames"]}


def test_statistics_that_fail_are_an_error(live, ncbi):
    ncbi.control.fault(endpoint="einfo", status=500, times=20)
    error = read(pubmed_stats, {}, live).body["error"]
    assert (error["code"], error["details"]["status"]) == ("NCBI_API_ERROR", "upstream_failed")


def test_over_mcp_they_are_base64_of_their_json_and_the_same_as_text(live):
    outcome = read(pubmed_stats, {}, live)
    blob, plain = contents(pubmed_stats, pubmed_stats.uri, outcome)
    assert blob.mime_type == plain.mime_type == "application/json"
    assert json.loads(base64.b64decode(blob.blob)) == json.loads(plain.text) == outcome.body


def test_the_revision_of_mcp_is_the_sdks_newest():
    assert MCP_VERSION == LATEST_PROTOCOL_VERSION


class Tools:
    """The live tools over a cache, with a clock for it."""

    def __init__(self, cached):
        self.cached, self.pubmed, self.now = cached, cached.pubmed, cached.live.now

    def __call__(self, tool, **arguments):
        return call(tool, arguments, self)


@pytest.fixture
def tools(ncbi, tmp_path):
    with cached_at(ncbi.base_url, tmp_path) as cached:
        yield Tools(cached)


@pytest.fixture
def calls(ncbi):
    [pmid, *more] = [str(pmid) for pmid in ncbi.control.pmids()[:3]]
    return [
        (pubmed.search_pubmed, {"queryTerm": "cancer", "maxResults": 5, "fetchBriefSummaries": 5}),
        (pubmed.fetch_details, {"pmids": [pmid, *more]}),
        (pubmed.fetch_details, {"pmids": [pmid, *more], "detailLevel": "medline_text"}),
        (pubmed.relate, {"sourcePmid": pmid}),
        (pubmed.relate, {"sourcePmid": pmid, "relationshipType": "citation_formats"}),
    ]


def test_an_answer_is_the_same_whether_it_was_kept_or_not(tools, calls, ncbi):
    for tool, arguments in calls:
        first = tools(tool, **arguments)
        asked = len(ncbi.control.requests())
        again = tools(tool, **arguments)
        assert first.body == again.body
        assert first.audit["out_hash"] == again.audit["out_hash"]
        assert len(ncbi.control.requests()) == asked


def test_meta_says_hit_or_miss_and_the_age_of_the_oldest_piece(tools, calls):
    tool, arguments = calls[1]
    assert tools(tool, **arguments).audit["cache"] == {"status": "miss", "hits": 0, "misses": 3}
    tools.cached.clock.now += 30
    more = {"pmids": [*arguments["pmids"], "1"]}
    assert tools(tool, **more).audit["cache"] == {"status": "mixed", "hits": 3, "misses": 1, "age_s": 30}
    tools.cached.clock.now += 30
    assert tools(tool, **arguments).audit["cache"] == {"status": "hit", "hits": 3, "misses": 0, "age_s": 60}


def test_a_call_that_looked_for_nothing_says_nothing(tools):
    assert "cache" not in tools(pubmed.search_pubmed, queryTerm="((").audit


def test_the_standing_of_ncbi_is_never_a_kept_one(tools, ncbi):
    read(pubmed.pubmed_stats, {}, tools)
    ncbi.control.fault(status=500, times=50)
    assert "error" not in read(pubmed.pubmed_stats, {}, tools).body
    tools.now = lambda: datetime.now(UTC) + timedelta(seconds=61)
    assert read(pubmed.pubmed_info, {}, tools).body["operationalStatus"]["ncbiStatus"] == "Failing"


def test_a_retracted_paper_is_flagged_in_every_form_once_the_lifetime_is_over(tools, calls, ncbi):
    pmid = calls[1][1]["pmids"][0]
    tools(pubmed.fetch_details, pmids=[pmid])
    notice = '<PublicationTypeList><PublicationType UI="D016441">Retracted Publication</PublicationType>'
    ncbi.control.revise(pmid=int(pmid), day="2025/08/17", replace={"<PublicationTypeList>": notice})
    tools.cached.clock.now += LIFETIMES.record_s
    body = tools(pubmed.fetch_details, pmids=[pmid]).body
    assert body["articles"][0]["retraction"] == "retracted"
    assert "retract" in json.dumps(tools(*calls[4][:1], **calls[4][1]).body["citations"]).lower()
