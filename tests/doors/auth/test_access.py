"""Half a lock is an error that says what is missing."""

import pytest

from bio_mcp.doors.auth.access import access
from bio_mcp.errors import Misconfigured
from bio_mcp.settings import Settings
from tests.doors.auth.minting import ISSUER, RESOURCE, SECRET

KEYS = "https://issuer.example.org/keys"
WHOLE = {"auth_jwks_url": KEYS, "auth_issuer": ISSUER, "resource_url": RESOURCE}


def test_without_any_setting_there_are_no_tokens():
    assert access(Settings()) is None
    assert access(Settings(resource_url=RESOURCE, allowed_hosts=("mcp.example.org",))) is None


@pytest.mark.parametrize("path", ["", "/", "/mcp", "/some/where/mcp/"])
def test_the_audience_is_the_endpoints_url(path):
    url = f"https://mcp.example.org{path}"
    assert access(Settings(auth_secret=SECRET, resource_url=url)).tokens.audience == url
    assert access(Settings(auth_secret=SECRET, resource_url=url, auth_audience="other")).tokens.audience == "other"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"auth_issuer": ISSUER}, "MCP_AUTH_ISSUER is set, but nothing to check tokens with"),
        ({"auth_audience": "x"}, "MCP_AUTH_AUDIENCE is set, but nothing"),
        ({"auth_scopes": ("x",)}, "MCP_AUTH_REQUIRED_SCOPES is set, but nothing"),
        ({**WHOLE, "auth_secret": SECRET}, "MCP_AUTH_SECRET_KEY and MCP_AUTH_JWKS_URL exclude each other"),
        ({"auth_jwks_url": KEYS}, "set MCP_AUTH_ISSUER and MCP_RESOURCE_URL too"),
        ({**WHOLE, "auth_issuer": ""}, "set MCP_AUTH_ISSUER too"),
        ({**WHOLE, "auth_jwks_url": "http://issuer.example.org/keys"}, "MCP_AUTH_JWKS_URL must be an https URL"),
        ({**WHOLE, "auth_jwks_url": "https://"}, "MCP_AUTH_JWKS_URL must be an https URL"),
        ({**WHOLE, "auth_jwks_url": "https://me:pw@issuer.example.org/keys"}, "MCP_AUTH_JWKS_URL must be an https URL"),
        ({**WHOLE, "auth_jwks_url": "https://[::1/keys"}, "MCP_AUTH_JWKS_URL is not a URL"),
        ({**WHOLE, "resource_url": "http://mcp.example.org/mcp"}, "MCP_RESOURCE_URL must be an https URL"),
        ({**WHOLE, "resource_url": "https://mcp.example.org/mcp#x"}, "MCP_RESOURCE_URL must be an https URL"),
        ({**WHOLE, "resource_url": 'https://mcp.example.org/"x'}, "MCP_RESOURCE_URL must be an https URL"),
        ({**WHOLE, "auth_scopes": ("a b",)}, "MCP_AUTH_REQUIRED_SCOPES holds 'a b', which is no scope"),
        ({**WHOLE, "auth_scopes": ('a"b',)}, "which is no scope"),
        ({"auth_secret": "ssm:"}, "secretsmanager:NAME or ssm:NAME"),
    ],
)
def test_what_is_missing_or_wrong_is_named(given, says):
    with pytest.raises(Misconfigured, match=says) as refused:
        access(Settings(**given))
    assert SECRET not in str(refused.value)


def test_plain_http_is_good_enough_on_this_machine():
    here = {"auth_jwks_url": "http://127.0.0.1:8080/keys", "resource_url": "http://localhost:3010/mcp"}
    assert access(Settings(**{**WHOLE, **here})).issuer == ISSUER
