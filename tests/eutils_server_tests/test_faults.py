"""Every fault as a client sees it, and that the server is itself again afterwards."""

import json

import httpx
import pytest
from lxml import etree

from tests.eutils_server.answers import RECORDINGS

ERRORS = sorted(path.name for path in (RECORDINGS / "errors").iterdir())


@pytest.fixture
def fetch(ncbi, client):
    def fetch(*pmids):
        wanted = pmids or ncbi.control.pmids()[:10]
        return client.post("efetch.fcgi", data={"db": "pubmed", "id": ",".join(map(str, wanted))})

    return fetch


@pytest.mark.parametrize("name", ERRORS)
def test_any_recorded_error_can_be_played(ncbi, fetch, name):
    ncbi.control.fault(endpoint="efetch", recorded=name)
    answer = fetch()
    assert answer.content == (RECORDINGS / "errors" / name).read_bytes()
    assert str(answer.status_code) == (name[:3] if name[0].isdigit() else "200")
    assert len(etree.fromstring(fetch().content)) == 10


def test_a_fault_waits_for_its_turn_and_stops_after_its_times(ncbi, fetch):
    ncbi.control.fault(endpoint="efetch", nth=2, times=3, status=502, body="<html>Bad Gateway</html>")
    assert [fetch().status_code for _ in range(6)] == [200, 502, 502, 502, 200, 200]


def test_a_fault_can_wait_for_a_pmid_or_a_term(ncbi, fetch, client):
    pmids = ncbi.control.pmids()[:2]
    ncbi.control.fault(pmid=pmids[1], status=500)
    ncbi.control.fault(term="asthma", status=503)
    assert [fetch(pmids[0]).status_code, fetch(pmids[1]).status_code] == [200, 500]
    terms = ("cancer", "asthma AND child")
    assert [client.get("esearch.fcgi", params={"term": term}).status_code for term in terms] == [200, 503]
    assert ncbi.control.faults_left() == []


def test_headers_such_as_retry_after_come_along(ncbi, fetch):
    ncbi.control.fault(status=429, body='{"error":"API rate limit exceeded"}', headers={"Retry-After": "2"})
    assert fetch().headers["retry-after"] == "2"


def test_the_rate_limit_can_hide_under_200(ncbi, fetch):
    ncbi.control.fault(recorded="429_ip_form.json", status=200)
    answer = fetch()
    assert answer.status_code == 200
    assert answer.json()["error"] == "API rate limit exceeded"


def test_html_can_come_under_200(ncbi, fetch):
    ncbi.control.fault(recorded="200_maintenance_interstitial.html")
    assert fetch().text.startswith("<!DOCTYPE html>")


def test_a_cut_body_in_sound_http_is_broken_xml(ncbi, fetch):
    ncbi.control.fault(cut=1500, ending="clean")
    answer = fetch()
    assert len(answer.content) == 1500
    with pytest.raises(etree.XMLSyntaxError):
        etree.fromstring(answer.content)


def test_a_cut_can_leave_only_the_doctype(ncbi, fetch):
    ncbi.control.fault(cut=160)
    assert fetch().content.startswith(b'<?xml version="1.0" ?>\n<!DOCTYPE')


def test_a_short_body_belies_its_content_length(ncbi, fetch):
    ncbi.control.fault(cut=1500, ending="short")
    with pytest.raises(httpx.RemoteProtocolError):
        fetch()
    assert fetch().status_code == 200


def test_a_reset_breaks_the_connection(ncbi, fetch):
    ncbi.control.fault(cut=1500, ending="reset")
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
        fetch()
    assert fetch().status_code == 200


def test_a_dropped_connection_has_no_answer(ncbi, fetch):
    ncbi.control.fault(drop=True)
    with pytest.raises(httpx.RemoteProtocolError):
        fetch()
    assert [entry["status"] for entry in ncbi.control.requests()] == [None]


@pytest.mark.parametrize("at", [0, 1000])
def test_a_stall_outlasts_a_client_that_does_not_wait(ncbi, at):
    pmid = ncbi.control.pmids()[0]
    ncbi.control.fault(stall=30, at=at)
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(f"{ncbi.base_url}efetch.fcgi", params={"id": str(pmid)}, timeout=0.3)


def test_a_short_stall_in_the_body_loses_nothing(ncbi, fetch):
    whole = fetch().content
    ncbi.control.fault(stall=0.01, at=1000)
    assert fetch().content == whole


def test_a_record_can_be_delivered_twice(ncbi, fetched, search):
    pmids = ncbi.control.pmids()[:5]
    ncbi.control.fault(endpoint="efetch", repeat=True)
    twice = fetched(pmids)
    assert [len(twice), len(set(twice))] == [6, 5]
    ncbi.control.fault(endpoint="esearch", repeat=True)
    ids = search(term="cancer", retmax="5")["idlist"]
    assert [len(ids), len(set(ids))] == [6, 5]


def test_a_fault_that_does_not_exist_is_refused(ncbi):
    with pytest.raises(ValueError, match="no fault has"):
        ncbi.control.fault(explode=True)
    with pytest.raises(ValueError, match="no recording"):
        ncbi.control.fault(recorded="nothing.xml")


def test_cleared_faults_do_not_strike(ncbi, fetch):
    ncbi.control.fault(status=500)
    assert len(ncbi.control.faults_left()) == 1
    ncbi.control.clear_faults()
    assert fetch().status_code == 200


def test_the_recorded_429_is_json_whatever_was_asked_for():
    assert json.loads((RECORDINGS / "errors" / "biomcp_429_rate_limit.json").read_text())["limit"] == "3"
