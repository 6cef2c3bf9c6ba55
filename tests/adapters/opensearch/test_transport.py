import hashlib
import hmac
import subprocess
import sys

import pytest
from botocore.credentials import Credentials

from bio_mcp.adapters.opensearch.sigv4 import sigv4
from bio_mcp.adapters.opensearch.transport import Busy, IndexRefused, OpenSearchTransport, http, kind_of
from bio_mcp.adapters.retry import Backoff
from bio_mcp.errors import IndexUnavailable
from tests.adapters.opensearch.fake import Scripted

REJECTED = (429, {"error": {"type": "circuit_breaking_exception"}, "status": 429})


@pytest.mark.parametrize("fault", [REJECTED, (503, b"<html>"), (502, b""), (504, b""), (200, b'{"took"'), None])
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
def test_a_refusal_is_told_by_status_and_kind_and_not_tried_again(status):
    server = Scripted((status, {"error": {"type": "security_exception", "reason": "no permissions for [secret]"}}))
    with pytest.raises(IndexRefused, match=f"{status} security_exception") as raised:
        server.transport().ask("GET", "/x")
    assert raised.value.retryable == (status == 500)
    assert "secret" not in str(raised.value)
    assert not server.pauses


def test_no_pause_outlasts_the_time_there_is():
    server = Scripted(*[REJECTED] * 3)
    with pytest.raises(Busy):
        OpenSearchTransport(server.send, backoff=server.backoff, read_s=0.5).ask("GET", "/x")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (
            {"error": {"type": "search_phase_execution_exception", "root_cause": [{"type": "query_shard"}]}},
            "query_shard",
        ),
        ({"error": {"type": "search_phase_execution_exception", "root_cause": []}}, "search_phase_execution_exception"),
        ({"error": {"type": "no https://host/ here"}}, "unknown_error"),
        ({"error": "Not Found"}, "unknown_error"),
        ({"message": "Forbidden"}, "unknown_error"),
        ([], "unknown_error"),
    ],
)
def test_the_kind_of_an_error_is_one_word(answer, kind):
    assert kind_of(answer) == kind


def test_an_address_that_is_not_there_is_not_told():
    transport = OpenSearchTransport(http("http://someone:hunter2@127.0.0.1:9/base"), backoff=Backoff(tries=1))
    with pytest.raises(IndexUnavailable, match="cannot be reached") as raised:
        transport.ask("GET", "/x")
    for secret in ("hunter2", "someone", "127.0.0.1", "base"):
        assert secret not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


def test_an_address_that_is_none_is_refused():
    with pytest.raises(IndexUnavailable, match="not an http address"):
        http("search-domain.eu-west-1.es.amazonaws.com")


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
    sign = sigv4(service, "eu-central-1", Credentials("AKID", "made-up-secret", token))
    body = b'{"size":0}'
    url = "https://host.example/corpus-abc-1-own/_bulk?refresh=true&require_alias=true"
    headers = sign("POST", url, body, {"content-type": "application/json"})
    digest = hashlib.sha256(body).hexdigest()
    assert headers["X-Amz-Content-SHA256"] == digest
    signed = {"content-type": "application/json", "host": "host.example", "x-amz-content-sha256": digest}
    signed["x-amz-date"] = headers["X-Amz-Date"]
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


def test_nothing_to_sign_with_is_said_at_once(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(IndexUnavailable, match="no AWS credentials"):
        sigv4("es", "eu-central-1")


def test_the_adapter_loads_neither_boto3_nor_httpx_before_it_signs():
    heavy = "{'boto3', 'httpx', 'sqlite3', 'onnxruntime'}"
    code = f"import sys, bio_mcp.adapters.opensearch.passages; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
