"""The wire over real sockets, what no transport made for tests can show, and what each answer means."""

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.adapters.entrez.transport import (
    SHAPES,
    Answer,
    AnswerTooLarge,
    BeyondReach,
    ClientRejected,
    HistoryLost,
    HttpTransport,
    SearchBackendFailed,
    failure_in,
)
from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import DeadlineExceeded, InvalidInput, Misconfigured, NcbiFailed, NcbiRateLimited, NcbiUnreadable
from tests.adapters.entrez.recordings import answer, entries
from tests.adapters.entrez.scripted import KEY, WHO

OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"


@contextmanager
def serving(*answers: bytes | None) -> Iterator[tuple[str, list[bytes]]]:
    """A server that says these bytes in turn, one connection after the other; None: it keeps silent."""
    listener = socket.create_server(("127.0.0.1", 0))
    heard: list[bytes] = []
    stop = threading.Event()

    def serve() -> None:
        for said in answers:
            connection, _ = listener.accept()
            with connection:
                heard.append(_request(connection))
                if said is None:
                    stop.wait(timeout=60)
                else:
                    connection.sendall(said)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/eutils", heard
    finally:
        stop.set()
        thread.join(timeout=60)
        listener.close()


def _request(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


@contextmanager
def wire(base_url: str, **settings) -> Iterator[HttpTransport]:
    opened = HttpTransport(base_url, **WHO, **settings)
    try:
        yield opened
    finally:
        opened.close()


def test_a_request_is_one_form_with_the_identity_in_its_body():
    with serving(OK) as (base_url, heard), wire(base_url) as sender:
        answer = sender.send("elink", {"id": ["1", "2"], "db": "pubmed"}, NEVER)
    assert (answer.status, answer.body, answer.endpoint) == (200, b"{}", "elink")
    head, _, body = heard[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /eutils/elink.fcgi HTTP/1.1\r\n")
    assert body.startswith(b"id=1&id=2&db=pubmed&")
    assert KEY.encode() in body
    assert KEY.encode() not in head


def test_a_key_is_read_again_for_each_request(closed):
    keys = iter(["old", "new"])
    with serving(OK, OK) as (base_url, heard):
        sender = closed(HttpTransport(base_url, identity={}, key=lambda: next(keys)))
        for _ in range(2):
            sender.send("einfo", {}, NEVER)
    assert [each.rpartition(b"api_key=")[2] for each in heard] == [b"old", b"new"]


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<Pubmed",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<Pubm\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nnogzp",
        b"no http at all\r\n\r\n",
    ],
    ids=["nothing", "cut head", "cut body", "cut chunks", "broken gzip", "not http"],
)
def test_an_answer_that_breaks_off_is_none(message):
    with serving(message) as (base_url, _), wire(base_url) as sender, pytest.raises(NcbiFailed, match="could not be"):
        sender.send("efetch", {}, NEVER)


def test_a_silent_server_is_given_up_at_the_deadline():
    with serving(None) as (base_url, _), wire(base_url) as sender, pytest.raises(DeadlineExceeded):
        sender.send("efetch", {}, Deadline(0.2))


def test_a_deadline_that_has_passed_sends_nothing():
    with wire("http://127.0.0.1:9") as sender, pytest.raises(DeadlineExceeded):
        sender.send("efetch", {}, Deadline(0))


def test_a_redirect_is_not_followed():
    message = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/stolen\r\nContent-Length: 0\r\n\r\n"
    with serving(message) as (base_url, heard), wire(base_url) as sender:
        assert sender.send("efetch", {}, NEVER).status == 302
    assert len(heard) == 1


def test_an_endless_answer_is_cut_off():
    packed = gzip.compress(b"x" * 1_000_000)
    message = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    with serving(message) as (base_url, _), wire(base_url, max_bytes=10_000) as sender, pytest.raises(AnswerTooLarge):
        sender.send("efetch", {}, NEVER)


@pytest.mark.parametrize("base_url", ["ftp://127.0.0.1/", "ncbi", "http://ncbi:port/"])
def test_an_address_that_is_none_is_named_as_the_setting_to_correct(base_url):
    with pytest.raises(Misconfigured, match="NCBI_BASE_URL"), wire(base_url) as sender:
        sender.send("efetch", {}, NEVER)


FAULTS = {
    "errors/200_efetch_unable_to_obtain_query.xml": HistoryLost,
    "errors/200_elink_resolve_fail.xml": NcbiFailed,
    "errors/200_elink_txclient_eof.json": NcbiFailed,
    "errors/200_esearch_bad_syntax.json": SearchBackendFailed,
    "errors/200_esearch_empty_term.json": InvalidInput,
    "errors/200_esearch_position_old.xml": BeyondReach,
    "errors/200_esearch_retstart_9999.xml": BeyondReach,
    "errors/200_esummary_cxx_exception.xml": NcbiFailed,
    "errors/200_esummary_empty_ids.json": InvalidInput,
    "errors/200_esummary_expired.json": HistoryLost,
    "errors/200_maintenance_interstitial.html": NcbiFailed,
    "errors/400_efetch_history_retstart.xml": BeyondReach,
    "errors/414_uri_too_long.html": ClientRejected,
    "errors/429_ip_form.json": NcbiRateLimited,
    "errors/429_with_key_doc.json": NcbiRateLimited,
    "errors/500_diagnostic.html": NcbiFailed,
    "errors/500_forwarding_ip.json": NcbiFailed,
    "errors/503_unable_to_route.txt": NcbiFailed,
    "errors/biomcp_429_rate_limit.json": NcbiRateLimited,
    "efetch/sul_Pubmed_MapPubHash_source_as_hash_DOI_extraction_constructs_a_URL_based_0.xml": InvalidInput,
    "einfo/kl_einfo.error.xml": InvalidInput,
    "epost/bp_epost2.xml": InvalidInput,
    "esearch/kl_esearch.baderror.xml": InvalidInput,
    "esummary/bp_esummary8.xml": InvalidInput,
    "esummary/kl_esummary.error.xml": InvalidInput,
}

# What is reported but was not recorded: status, endpoint, body, class.
REPORTED = [
    (429, "efetch", b"", NcbiRateLimited),
    (
        400,
        "esearch",
        b'{"error":"API key invalid","api-key":"%s","type":"invalid",\n"status":"unknown"}' % KEY.encode(),
        ClientRejected,
    ),
    (502, "efetch", b"<html><body>Bad Gateway</body></html>", NcbiFailed),
    (503, "einfo", b"Service Unavailable", NcbiFailed),
    (200, "esummary", b'{"header":{},"error":"error forwarding request"}', NcbiFailed),
    (200, "efetch", b"<eFetchResult><ERROR>/lbsm/eutils_lb -> Neg</ERROR></eFetchResult>", NcbiFailed),
    (200, "efetch", b"Unable to route request!\n\nservice name: /http/service/ratecontrol", NcbiFailed),
    (
        200,
        "efetch",
        b'<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://x/y.dtd">\n',
        NcbiUnreadable,
    ),
    (200, "efetch", b"<PubmedArticleSet><PubmedArticle><MedlineCitation>", NcbiUnreadable),
    (200, "esearch", b"  \n", NcbiUnreadable),
    (200, "esearch", b"{", NcbiUnreadable),
    (200, "esearch", b'{"header":{"type":"esearch","version":"0.3"}}', NcbiUnreadable),
    (200, "esearch", b"<eSummaryResult></eSummaryResult>", NcbiUnreadable),
    (400, "esummary", b"<r><ERROR>Cannot retrieve history data</ERROR></r>", HistoryLost),
    (400, "esearch", b"<html>Bad Request</html>", SearchBackendFailed),
    (200, "esummary", b'{"header":{},"error":"Too many UIDs in request. Maximum is 500."}', InvalidInput),
    (200, "esummary", b'{"header":{},"error":"Invalid uid abc at position=0","result":{"uids":[]}}', InvalidInput),
    (503, "esearch", b'{"error":"error forw', NcbiFailed),
    (301, "esearch", b"", ClientRejected),
    (403, "esearch", b"<html>Forbidden</html>", ClientRejected),
    (200, "einfo", b'{"einforesult":{"ERROR":"a message nobody has seen before"}}', NcbiFailed),
]


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["file"])
def test_every_recorded_answer_is_classified(entry):
    failure = failure_in(answer(entry["file"]))
    expected = FAULTS.get(entry["file"])
    assert type(failure) is (expected or type(None))


def test_every_recorded_error_has_a_class():
    assert {entry["file"] for entry in entries() if entry["file"].startswith("errors/")} <= FAULTS.keys()


@pytest.mark.parametrize(("status", "endpoint", "body", "expected"), REPORTED, ids=lambda value: str(value)[:60])
def test_every_reported_answer_is_classified(status, endpoint, body, expected):
    assert type(failure_in(Answer(status, {}, body, endpoint))) is expected


@pytest.mark.parametrize(
    ("endpoint", "body"),
    [
        ("esearch", b'{"esearchresult":{"count":"0","retmax":"0","retstart":"0","idlist":[]}}'),
        ("efetch", b'<?xml version="1.0" ?>\n<PubmedArticleSet>\n\n</PubmedArticleSet>'),
        ("efetch", b"<PubmedArticleSet/>\n"),
        ("esummary", b'{"result":{"uids":["1"],"1":{"uid":"1","error":"cannot get document summary"}}}'),
        ("esummary", b'{"error":"Invalid uid x at position=2","result":{"uids":["1"],"1":{"uid":"1"}}}'),
        ("elink", b'{"linksets":[{"dbfrom":"pubmed","ids":["1"]}]}'),
        ("espell", b"<eSpellResult><Query>asthma</Query><CorrectedQuery/><ERROR/></eSpellResult>"),
    ],
)
def test_nothing_found_is_not_a_failure(endpoint, body):
    assert failure_in(Answer(200, {}, body, endpoint)) is None


def test_words_of_a_paper_are_not_taken_for_an_error():
    record = b"PMID- 1\nTI  - API rate limit exceeded: Search Backend failed and NCBI C++ Exception\n"
    assert failure_in(Answer(200, {}, record, "efetch")) is None
    echoed = b'{"esearchresult":{"count":"0","idlist":[],"querytranslation":"API rate limit exceeded"}}'
    assert failure_in(Answer(200, {}, echoed, "esearch")) is None


def test_a_doctype_with_entities_of_its_own_is_refused():
    bomb = b'<!DOCTYPE eSpellResult [<!ENTITY a "b">]>\n<eSpellResult><Query>&a;</Query></eSpellResult>'
    assert type(failure_in(Answer(200, {}, bomb, "espell"))) is NcbiUnreadable


@given(st.sampled_from(sorted(SHAPES)), st.binary(max_size=80), st.sampled_from([200, 400, 429, 500]))
def test_no_bytes_break_the_classification(endpoint, body, status):
    failure = failure_in(Answer(status, {}, body, endpoint))
    assert failure is not None  # no short random body is an answer


def test_a_record_set_cut_anywhere_is_never_whole():
    whole = answer("efetch/bc_test_efetch_0.xml").body.rstrip()
    assert failure_in(Answer(200, {}, whole, "efetch")) is None
    for cut in range(len(whole)):
        assert isinstance(failure_in(Answer(200, {}, whole[:cut], "efetch")), NcbiFailed)
    assert type(failure_in(Answer(200, {}, b"<PubmedArticleSet><Keyword/>", "efetch"))) is NcbiUnreadable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Fri, 12 Apr 2024 18:50:10 GMT", "date": "Fri, 12 Apr 2024 18:49:55 GMT"}, 15),
        ({"retry-after": "Fri, 12 Apr 2024 18:50:10 GMT"}, 10),
        ({"retry-after": "Fri, 12 Apr 2024 18:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_seconds_and_as_a_date(headers, seconds):
    failure = failure_in(Answer(429, headers, b"", "esearch"), now=datetime(2024, 4, 12, 18, 50, 0, tzinfo=UTC))
    assert failure.retry_after_s == seconds


def test_a_rejected_query_says_what_to_check():
    body = b'{"esearchresult":{"ERROR":"Search Backend failed: Exception:\\nunbalanced (( at /entrez/srv/a.cpp"}}'
    failure = failure_in(Answer(200, {}, body, "esearch"))
    assert str(failure) == (
        "PubMed could not run the query: unbalanced (( at [removed]. Check brackets, quotes and field tags"
    )
