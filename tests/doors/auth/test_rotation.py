"""A secret that AWS keeps rotates under the Lambda handler, which is not deployed again."""

import boto3
import pytest
from moto import mock_aws

from tests.doors.auth.handlers import bearer, door
from tests.doors.auth.minting import OTHER_SECRET, SECRET, hs256

THIRD_SECRET = "a-third-secret-of-the-tests-0123456789-abcdef"
AUDIENCE = {"MCP_AUTH_AUDIENCE": "bio-mcp"}


class SecretsManager:
    reference = "secretsmanager:bio-mcp/tokens"

    def __init__(self, value):
        self._client = boto3.client("secretsmanager")
        self._client.create_secret(Name="bio-mcp/tokens", SecretString=value)

    def rotate(self, value):
        self._client.put_secret_value(SecretId="bio-mcp/tokens", SecretString=value)


class ParameterStore:
    reference = "ssm:/bio-mcp/tokens"

    def __init__(self, value):
        self._client = boto3.client("ssm")
        self.rotate(value)

    def rotate(self, value):
        self._client.put_parameter(Name="/bio-mcp/tokens", Type="SecureString", Overwrite=True, Value=value)


@pytest.fixture(params=[SecretsManager, ParameterStore])
def store(request, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        yield request.param


def test_tokens_of_the_new_and_of_the_previous_secret_open_and_older_ones_do_not(store):
    stored = store(SECRET)
    with door(MCP_AUTH_SECRET_KEY=stored.reference, **AUDIENCE) as locked:
        assert locked(bearer(hs256(SECRET))).status == 200
        stored.rotate(OTHER_SECRET)
        assert locked(bearer(hs256(OTHER_SECRET))).status == 200
        assert locked(bearer(hs256(SECRET))).status == 200
        assert locked(bearer(hs256(THIRD_SECRET))).status == 401
    stored.rotate(THIRD_SECRET)
    with door(MCP_AUTH_SECRET_KEY=stored.reference, **AUDIENCE) as later:
        assert [later(bearer(hs256(each))).status for each in (THIRD_SECRET, OTHER_SECRET, SECRET)] == [200, 200, 401]


def test_a_placeholder_that_was_rotated_away_signs_nothing_and_hinders_nothing(store):
    stored = store("changeme")
    stored.rotate(SECRET)
    with door(MCP_AUTH_SECRET_KEY=stored.reference, **AUDIENCE) as locked:
        assert locked(bearer(hs256(SECRET))).status == 200
        assert locked(bearer(hs256("changeme".ljust(32)))).status == 401


def test_nothing_is_read_before_a_token_comes(store):
    with door(MCP_AUTH_SECRET_KEY=store.reference, **AUDIENCE) as locked:
        store(SECRET)
        assert locked().status == 401
        assert locked(bearer(hs256(SECRET))).status == 200


@pytest.mark.parametrize("value", [None, "changeme"])
def test_a_secret_that_is_missing_or_too_short_closes_the_door_and_is_not_revealed(store, value, caplog):
    if value:
        store(value)
    with door(MCP_AUTH_SECRET_KEY=store.reference, **AUDIENCE) as locked:
        answer = locked(bearer(hs256(SECRET)))
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert answer.json["error"] == "temporarily_unavailable"
    assert "tokens" in caplog.text
    assert [each for each in ("bio-mcp/tokens", "changeme") if each in answer.text + caplog.text] == []
