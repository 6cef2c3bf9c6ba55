"""The live tools over a cache: the same answers, and `_meta` says what was kept and for how long."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.call import call, read
from bio_mcp.tools import pubmed
from tests.adapters.caching.cached_ncbi import LIFETIMES, cached_at


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
