"""NCBI echoes the key in a 400 and the caller's address in a 429; neither may come out anywhere."""

import logging
import traceback

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.adapters.entrez.transport import redacted
from bio_mcp.errors import Failure
from tests.adapters.entrez.scripted import EMAIL, IP, KEY, chain, eutils, found, message

PATH = "/pubmed_gen/rbuild/version/20231222/eutilsapp.cpp"
URL = f"https://ncbi.test/eutils/esearch.fcgi?api_key={KEY}&email={EMAIL}"
SECRETS = (KEY, EMAIL, EMAIL.replace("@", "%40"), IP, "pubmed_gen", "api_key=", "ncbi.test")


def request(url: str = URL) -> httpx.Request:
    return httpx.Request("POST", url, data={"api_key": KEY})


LEAKS = {
    "key in a 400": lambda: message({"error": "API key invalid", "api-key": KEY, "type": "invalid"}, 400),
    "address in a 429": lambda: message({"error": "API rate limit exceeded", "api-key": IP, "limit": "3"}, 429),
    "address in a 500": lambda: message({"error": "error forwarding request", "api-key": IP, "type": "ip"}, 500),
    "path in a query error": lambda: message({"esearchresult": {"ERROR": f"Search Backend failed: {PATH} {URL} {IP}"}}),
    "path in an exception": lambda: message(f"<r><ERROR>NCBI C++ Exception: {PATH}</ERROR></r>"),
    "url in a web page": lambda: message(f"<html>URL: {URL}</html>", 500),
    "url in a broken answer": lambda: message(f"{{{URL}"),
    "key for a PMID": lambda: found(count=1, **{"idlist": [KEY]}),
    "key for a count": lambda: message({"esearchresult": {"count": KEY, "idlist": []}}),
    "redirect": lambda: message("", 302, location=URL),
    "connection": lambda: httpx.ConnectError(f"cannot reach {URL} from {IP}", request=request()),
    "time-out": lambda: httpx.ReadTimeout(f"timeout at {URL}", request=request()),
    "protocol": lambda: httpx.UnsupportedProtocol(f"no http in {URL}", request=request()),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_no_secret_comes_out_of_a_failure_or_into_a_log(leak, caplog):
    client, _ = eutils(*[LEAKS[leak]() for _ in range(6)])
    with caplog.at_level(logging.DEBUG), pytest.raises(Failure) as failed:
        client.esearch("asthma")
    logged = caplog.text.replace("https://ncbi.test/eutils/esearch.fcgi ", "")  # the bare address is no secret
    shown = [logged.replace("waiting for NCBI at ncbi.test, ", "")]
    for failure in chain(failed.value):
        shown += [str(failure), repr(failure), repr(failure.args), repr(vars(failure))]
        shown += [repr(getattr(failure, "request", None))]
    shown += traceback.format_exception(failed.value, chain=True)
    lines = "\n".join(line for text in shown for line in text.splitlines())
    assert [secret for secret in SECRETS if secret in lines] == []
    if leak in ("connection", "time-out", "protocol", "key for a PMID"):
        assert list(chain(failed.value)) == [failed.value], "it carries no exception of the HTTP client"


def test_a_client_shows_no_secret_of_its_own():
    client, _ = eutils()
    assert KEY not in f"{client!r} {client._transport!r} {vars(client)}"


def test_warnings_from_ncbi_are_redacted():
    client, _ = eutils(found(1, warninglist={"outputmessages": [f"see {URL} or {PATH} or {IP} or {EMAIL}"]}))
    (warning,) = client.esearch("asthma").warnings
    assert warning == "PubMed: see [removed] or [removed] or [removed] or [removed]"


def test_the_url_that_httpx_logs_holds_no_parameters(caplog):
    client, _ = eutils(found(1))
    with caplog.at_level(logging.DEBUG):
        client.esearch("asthma")
    assert "esearch.fcgi" in caplog.text
    assert "?" not in caplog.text


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("key 0123456789abcdef0123456789abcdef0123.", "key [removed]."),
        ("from 203.0.113.7, sorry", "from [removed], sorry"),
        ("from 2001:db8::8a2e:370:7334", "from [removed]"),
        ("at https://eutils.ncbi.nlm.nih.gov/x?api_key=1 now", "at [removed] now"),
        ("ask me@example.org", "ask [removed]"),
        ('in "/pubmed_gen/rbuild/eutilsapp.cpp", line 77', 'in "[removed]", line 77'),
        ("history MCID_692851c130aec64bed0a8c2a", "history [removed]"),
        ("two\n lines", "two lines"),
    ],
)
def test_what_nobody_may_read_is_removed(message, shown):
    assert redacted(message) == shown


@pytest.mark.parametrize(
    "message",
    [
        'unbalanced "(("',
        "unknown field [gene]",
        "2024/01/01 to 2024/12/31",
        "IL-6/TNF-alpha",
        "methylenedioxymethamphetamine",
    ],
)
def test_what_helps_the_caller_stays(message):
    assert redacted(message) == message


@given(st.text(max_size=2_000))
def test_it_is_one_short_line(message):
    shown = redacted(message)
    assert len(shown) <= 200
    assert len(shown.splitlines()) <= 1
