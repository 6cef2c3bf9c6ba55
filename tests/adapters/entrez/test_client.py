import httpx
import pytest

from bio_mcp.adapters.entrez.transport import BeyondReach, ClientRejected
from bio_mcp.deadline import Deadline
from bio_mcp.errors import (
    InvalidInput,
    NcbiFailed,
    NcbiRateLimited,
    NcbiUnreachable,
)
from tests.adapters.clocks import Clock
from tests.adapters.entrez.recordings import entries
from tests.adapters.entrez.scripted import EMAIL, KEY, article_set, eutils, found, message, records

LIMITED = {"error": "API rate limit exceeded", "api-key": "203.0.113.7", "count": "4", "limit": "3"}

# Every kind of trouble that passes.
PASSING = {
    "429": lambda: message(LIMITED, 429),
    "429 under 200": lambda: message(LIMITED),
    "500": lambda: message("<html>Server Error</html>", 500),
    "502": lambda: message("", 502),
    "503": lambda: message("Unable to route request!", 503),
    "504": lambda: message("", 504),
    "web page under 200": lambda: message("<!DOCTYPE html><html><body>maintenance</body></html>"),
    "empty": lambda: message(""),
    "only white space": lambda: message("\n \n"),
    "doctype only": lambda: message('<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "a" "b">\n'),
    "cut": lambda: message(article_set(1)[:-30]),
    "cut in a record": lambda: message(article_set(1)[:200]),
    "C++ exception": lambda: message("<eFetchResult><ERROR>NCBI C++ Exception: EOF</ERROR></eFetchResult>"),
    "viewer timeout": lambda: message("<e><ERROR>External viewer error: Status: Timeout</ERROR></e>", 400),
    "backend": lambda: message("<e><ERROR>Search Backend failed: x</ERROR></e>"),
    "reset": lambda: httpx.ReadError("reset by 203.0.113.7"),
    "stall": lambda: httpx.ReadTimeout("timed out"),
    "refused": lambda: httpx.ConnectError("no route to https://ncbi.test"),
    "hung up": lambda: httpx.RemoteProtocolError("peer closed connection without sending complete message body"),
    "broken gzip": lambda: httpx.DecodingError("bad gzip"),
    "other utility's answer": lambda: message({"result": {"uids": []}}),
}


@pytest.mark.parametrize("name", PASSING)
def test_a_search_outlives_trouble_that_passes(name):
    client, ncbi = eutils(PASSING[name](), found(2, 1))
    assert client.esearch("asthma").ids == ("2", "1")
    assert len(ncbi.requests) == 2


@pytest.mark.parametrize("name", PASSING)
def test_trouble_that_stays_is_a_failure_and_never_an_empty_result(name):
    client, ncbi = eutils(*[PASSING[name]() for _ in range(6)])
    with pytest.raises(NcbiFailed) as failed:
        client.esearch("asthma")
    assert failed.value.details["tries"] == len(ncbi.requests) == {"backend": 3, "refused": 2}.get(name, 6)


def test_an_ncbi_that_has_answered_before_is_tried_longer_than_one_that_never_has():
    refused = [PASSING["refused"]() for _ in range(6)]
    client, _ = eutils(found(2, 1), *refused)
    client.esearch("asthma")
    with pytest.raises(NcbiUnreachable) as failed:
        client.esearch("asthma")
    assert failed.value.details["tries"] == 6


PERMANENT = {
    "key": (lambda: message({"error": "API key invalid", "api-key": KEY}, 400), ClientRejected),
    "beyond reach": (
        lambda: message('{"esearchresult":{"ERROR":"Exception:\n\'retstart\' cannot be larger than 9998."}}'),
        BeyondReach,
    ),
    "empty term": (
        lambda: message({"esearchresult": {"ERROR": "Empty term and query_key - nothing todo"}}),
        InvalidInput,
    ),
    "database": (lambda: message({"esearchresult": {"ERROR": "Invalid db name specified: x"}}), InvalidInput),
    "too many": (lambda: message({"error": "Too many UIDs in request"}, 400), InvalidInput),
    "redirect": (lambda: message("", 301, location="https://elsewhere.test/"), ClientRejected),
    "forbidden": (lambda: message("<html>no</html>", 403), ClientRejected),
    "too long": (lambda: message("<html>414</html>", 414), ClientRejected),
}


@pytest.mark.parametrize("name", PERMANENT)
def test_what_will_not_change_is_asked_only_once(name):
    answer, kind = PERMANENT[name]
    client, ncbi = eutils(answer())
    with pytest.raises(kind) as failed:
        client.esearch("asthma")
    assert len(ncbi.requests) == 1
    assert not failed.value.retryable


def test_after_a_429_nobody_starts_before_the_time_it_names():
    clock = Clock()
    client, ncbi = eutils(message(LIMITED, 429, **{"Retry-After": "9"}), found(1), found(1), clock=clock)
    client.esearch("asthma")
    client.esearch("asthma")
    assert ncbi.starts == pytest.approx([0, 9, 9.1])


def test_a_429_beyond_the_deadline_says_when_to_come_back():
    clock = Clock()
    client, ncbi = eutils(message(LIMITED, 429, **{"Retry-After": "60"}), clock=clock)
    with pytest.raises(NcbiRateLimited) as failed:
        client.esearch("asthma", deadline=Deadline(8, clock))
    assert failed.value.retry_after_s == 60
    assert clock.now == 0
    with pytest.raises(NcbiRateLimited):  # the next caller is told at once, NCBI is left alone
        client.esearch("asthma", deadline=Deadline(8, clock))
    assert len(ncbi.requests) == 1


def test_every_request_names_the_tool_the_email_and_the_key_and_never_in_its_url():
    client, ncbi = eutils(found(1), records(1), message({"linksets": [{"ids": ["1"]}]}))
    client.esearch("asthma")
    client.efetch(["1"])
    client.elink(["1"])
    for request, form in zip(ncbi.requests, ncbi.forms, strict=True):
        assert form["tool"] == ["bio-mcp-tests"]
        assert form["email"] == [EMAIL]
        assert form["api_key"] == [KEY]
        assert request.method == "POST"
        assert request.url.query == b""
        assert KEY not in str(request.headers)


def test_records_of_another_kind_are_not_taken_for_pubmed():
    client, _ = eutils(message("<GBSet></GBSet>"), records(1))
    assert [record.pmid for record in client.efetch(["1"])] == ["1"]


def test_an_answer_that_is_too_large_is_asked_for_in_halves():
    def fetch(request: httpx.Request) -> httpx.Response:
        ids = httpx.QueryParams(request.content.decode())["id"].split(",")
        return records(*[int(pmid) for pmid in ids])

    client, ncbi = eutils(*[fetch] * 9, max_bytes=len(article_set(1, 2)))
    assert [record.pmid for record in client.efetch(["1", "2", "3", "4"])] == ["1", "2", "3", "4"]
    assert [form["id"] for form in ncbi.forms] == [["1,2,3,4"], ["1,2"], ["3,4"]]


@pytest.mark.parametrize(
    ("pmids", "sentence"),
    [
        ([], "no PMIDs"),
        (["abc"], "'abc' is not a PMID"),
        (["1", "-2"], "'-2' is not a PMID"),
        (["1,2"], "not a PMID"),
        (["0"], "not a PMID"),
        ([""], "not a PMID"),
        (["١٢"], "not a PMID"),
        ([str(n) for n in range(1, 202)], "at most 200"),
    ],
)
def test_what_is_no_pmid_never_reaches_ncbi(pmids, sentence):
    client, ncbi = eutils()
    with pytest.raises(InvalidInput, match=sentence):
        client.efetch(pmids)
    assert ncbi.requests == []


def test_efetch_gives_the_text_that_ncbi_prints():
    client, ncbi = eutils(message("\nPMID- 1\nTI  - T\n"), message(article_set(1)[:-9]), message(article_set(1)))
    assert client.efetch_text(["1"]) == "\nPMID- 1\nTI  - T\n"
    assert client.efetch_text(["1"], style="xml") == article_set(1).decode()
    assert [form.get("rettype") for form in ncbi.forms] == [["medline"], None, None]
    assert [form["retmode"] for form in ncbi.forms] == [["text"], ["xml"], ["xml"]]


LOST = {"esummaryresult": ["Unable to obtain query #1"]}
SEARCH = {"webenv": "MCID_1", "querykey": "1"}


def test_a_history_that_stays_lost_is_replaced_by_the_pmids():
    summary = message({"result": {"uids": ["1"], "1": {"uid": "1", "title": "T"}}})
    client, ncbi = eutils(found(1, **SEARCH), message(LOST), message(LOST), summary)
    summaries = client.summaries_of(client.esearch("asthma", history=True), 20)
    assert [found.title for found in summaries.found] == ["T"]
    assert [form.get("WebEnv") for form in ncbi.forms] == [None, ["MCID_1"], ["MCID_1"], None]
    assert ncbi.forms[-1]["id"] == ["1"]


def test_a_search_without_hits_asks_for_no_summaries():
    client, ncbi = eutils(found(**SEARCH))
    assert client.summaries_of(client.esearch("asthma", history=True), 20).found == ()
    assert len(ncbi.requests) == 1


def test_a_search_that_ncbi_did_not_keep_is_summarised_by_pmid():
    client, ncbi = eutils(found(1), message({"result": {"uids": ["1"], "1": {"uid": "1", "title": "T"}}}))
    assert client.summaries_of(client.esearch("asthma"), 1).found[0].title == "T"
    assert ncbi.forms[1]["id"] == ["1"]


def test_the_recorded_fetches_of_pubmed_are_read():
    fetched = [entry for entry in entries() if entry["endpoint"] == "efetch" and entry["file"].endswith(".xml")]
    asked = [(entry.get("params", {}), (entry["folder"] / entry["file"]).read_bytes()) for entry in fetched]
    of_pubmed = [(params["id"], body) for params, body in asked if params.get("db") == "pubmed" and params.get("id")]
    assert of_pubmed
    for pmid, body in of_pubmed:
        client, _ = eutils(message(body))
        assert [record.pmid for record in client.efetch([pmid[:9]])] in ([pmid], [])
