import hashlib
import hmac

import pytest
from botocore.credentials import Credentials

from bio_mcp.adapters.opensearch.client import OpenSearchTransport, sigv4
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Misconfigured
from tests.adapters.opensearch.fake import Scripted


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
