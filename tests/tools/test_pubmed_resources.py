"""pubmed-connect://info and pubmed-connect://stats/pubmed against the local NCBI."""

import base64
import json
from datetime import datetime, timedelta

from mcp.types import LATEST_PROTOCOL_VERSION

from bio_mcp.call import read
from bio_mcp.doors.mcp.server import contents
from bio_mcp.literature.clock import utc
from bio_mcp.tools.pubmed import MCP_VERSION, pubmed_info, pubmed_stats
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
