"""How OpenSearch is reached: what is tried again, what is refused, how requests are signed, and what an alias means."""

import hashlib
import hmac
import ssl
import time
from inspect import signature

import pytest
from botocore.credentials import Credentials

from bio_mcp.adapters.opensearch.client import Busy, IndexRefused, OpenSearchTransport, client, sigv4
from bio_mcp.adapters.opensearch.index import KNOWN_S, Alias
from bio_mcp.adapters.opensearch.schema import DOMAIN, Layout
from bio_mcp.adapters.retry import Backoff
from bio_mcp.deadline import Deadline
from bio_mcp.errors import IndexUnavailable, Misconfigured
from bio_mcp.scope import bounded_by
from tests.adapters.opensearch.fake import OPEN, Scripted

REJECTED = (429, {"error": {"type": "circuit_breaking_exception"}, "status": 429})
UNREADABLE = [(200, b'{"took"'), (200, b""), (200, b"[]"), (200, b"<html>", "text/html"), (302, b"<html>", "text/html")]


@pytest.mark.parametrize(
    "fault", [REJECTED, (503, b"[]"), (502, b""), (504, b"<html>", "text/html"), *UNREADABLE, None]
)
def test_what_passes_is_tried_again_after_growing_pauses(fault):
    server = Scripted(fault, fault, (200, {"took": 1}))
    assert server.transport().ask("GET", "/x") == {"took": 1}
    assert server.pauses == [1, 2]


def test_what_does_not_pass_is_raised_in_the_end():
    server = Scripted(*[REJECTED] * 3)
    with pytest.raises(Busy, match="429") as raised:
        server.transport().ask("GET", "/x")
    assert raised.value.retryable
    assert raised.value.details["tries"] == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_a_refusal_is_reported_by_status_and_kind_and_not_tried_again(status):
    server = Scripted((status, {"error": {"type": "security_exception", "reason": "no permissions for [secret]"}}))
    with pytest.raises(IndexRefused, match=f"{status} security_exception") as raised:
        server.transport().ask("GET", "/x")
    assert raised.value.retryable == (status == 500)
    assert "secret" not in str(raised.value)
    assert not server.pauses


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"error": {"type": "search_phase", "root_cause": [{"type": "query_shard"}]}}, "query_shard"),
        ({"error": {"type": "search_phase", "root_cause": []}}, "search_phase"),
        ({"error": {"type": "no https://host/ here"}}, "unknown_error"),
        ({"error": "Not Found"}, "unknown_error"),
        ({"message": "Forbidden"}, "unknown_error"),
        ([], "unknown_error"),
        ("Forbidden", "unknown_error"),
    ],
)
def test_the_kind_of_a_refusal_is_one_word_whoever_refuses(answer, kind):
    with pytest.raises(IndexRefused, match=f"403 {kind}"):
        Scripted((403, answer)).transport().ask("GET", "/x")


def test_a_request_has_the_time_that_is_left_and_three_seconds_of_it_to_connect():
    server = Scripted((200, {}), (200, {}))
    server.transport(read_s=7).ask("GET", "/x", {"size": 0})
    server.transport(read_s=0.5).ask("GET", "/x", {"size": 0})
    [patient, hasty] = [timeout for _, timeout in server.sent]
    assert (patient.connect_timeout, hasty.connect_timeout) == (3.0, hasty.read_timeout)
    assert 6 < patient.read_timeout <= 7
    assert 0.1 <= hasty.read_timeout <= 0.5
    assert [method for method, *_ in server.asked] == ["GET", "GET"]  # all that a reader's policy allows


def test_a_call_with_little_time_left_waits_no_longer_for_opensearch():
    server = Scripted((200, {}))
    with bounded_by(Deadline(0.4)):
        server.transport(read_s=7).ask("GET", "/x")
    [(_, timeout)] = server.sent
    assert 0.1 <= timeout.read_timeout <= 0.4


def test_no_pause_outlasts_the_time_there_is():
    server = Scripted(*[REJECTED] * 3)
    with pytest.raises(Busy):
        server.transport(read_s=0.5).ask("GET", "/x")
    assert len(server.asked) == 1


def test_an_address_that_is_not_there_is_in_no_log(caplog):
    transport = OpenSearchTransport(client("http://someone:hunter2@127.0.0.1:9/base"), backoff=Backoff(tries=1))
    with pytest.raises(IndexUnavailable, match="cannot be reached") as raised:
        transport.ask("GET", "/x")
    for secret in ("hunter2", "someone", "127.0.0.1", "base"):
        assert secret not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert not caplog.records


@pytest.mark.parametrize(
    "url", ["search-domain.eu-west-1.es.amazonaws.com", "ftp://host.example", "https://", "http://host.example:port"]
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(Misconfigured, match="BIO_MCP_OPENSEARCH_URL is not an http address"):
        client(url)


def test_a_domain_has_to_prove_its_name_by_a_certificate():
    asked = client("https://host.example/base/").get_connection()
    assert asked.host == "https://host.example:443"
    assert asked.url_prefix == "/base"
    tls = asked.pool.conn_kw["ssl_context"]
    assert (tls.verify_mode, tls.check_hostname) == (ssl.CERT_REQUIRED, True)


def expected_signature(service, secret, headers, body, canonical_request):
    """Signature Version 4 by AWS's description, on its own."""
    date, region = headers["X-Amz-Date"], "eu-central-1"
    scope = f"{date[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical_request.encode()).hexdigest()])
    key = f"AWS4{secret}".encode()
    for part in (date[:8], region, service, "aws4_request", to_sign):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


@pytest.mark.parametrize("service", ["es", "aoss"])
@pytest.mark.parametrize("token", [None, "session"])
def test_requests_are_signed_with_the_hash_of_their_body(service, token):
    server = Scripted((200, {}))
    sign = sigv4(service, "eu-central-1", Credentials("AKID", "made-up-secret", token))
    body, path = b'{"size":0}\n', "/corpus-abc-1-own/_bulk?refresh=true&require_alias=true"
    OpenSearchTransport(server.client(sign)).once("POST", path, body, Deadline(5))
    [(headers, _)] = server.sent
    digest = hashlib.sha256(body).hexdigest()
    assert headers["X-Amz-Content-SHA256"] == digest
    assert headers["content-type"] == "application/x-ndjson"
    signed = {"host": "search.example", "x-amz-content-sha256": digest, "x-amz-date": headers["X-Amz-Date"]}
    if token:
        signed["x-amz-security-token"] = token
    canonical = "\n".join(
        [
            "POST",
            "/corpus-abc-1-own/_bulk",
            "refresh=true&require_alias=true",
            *(f"{name}:{value}" for name, value in sorted(signed.items())),
            "",
            ";".join(sorted(signed)),
            digest,
        ]
    )
    wanted = expected_signature(service, "made-up-secret", headers, body, canonical)
    assert headers["Authorization"].endswith(f"Signature={wanted}")
    assert "made-up-secret" not in str(headers)


def test_nothing_to_sign_with_is_reported_at_once(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(Misconfigured, match="no AWS credentials"):
        sigv4("es", "eu-central-1")


def test_an_alias_that_means_two_indices_is_settled_for_the_older():
    of_b = {"mappings": {"_meta": {"fingerprint": "model-b", "dim": 8}}}
    younger = {"corpus-xyz-1": of_b | {"settings": {"index": {"creation_date": "1700000000001"}}}}
    server = Scripted((200, younger | OPEN))
    assert server.passages().alias.refresh().fingerprint == "model-a"


def test_what_the_alias_means_is_looked_up_again_after_a_freeze_and_when_the_clock_was_put_back():
    now = [1_000.0]
    server = Scripted(*[(200, OPEN)] * 3)
    alias = Alias(server.transport(), "corpus", "corpus", Layout(DOMAIN), clock=lambda: now[0])
    for seconds in (0, KNOWN_S - 1, 1, -3_600):  # the third is half a minute after the first
        now[0] += seconds
        assert alias.index().name == "corpus-abc-1"
    assert len(server.asked) == 3
    assert signature(Alias).parameters["clock"].default is time.time  # Lambda's monotonic clock stands still
