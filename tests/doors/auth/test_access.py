"""Which tokens are let in: half a lock is an error, and what is issued here opens."""

from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.doors.auth.access import access, issue
from bio_mcp.errors import InvalidInput, Misconfigured
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


DAY = timedelta(days=1)


def now():
    return datetime.now(UTC)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"resource_url": RESOURCE},
        {"auth_audience": "other"},
        {"auth_issuer": ISSUER},
        {"auth_scopes": ("search", "sync")},
    ],
)
def test_what_is_issued_is_let_in(given):
    settings = Settings(auth_secret=SECRET, **given)
    token, end = issue(settings, "ada", DAY, now())
    caller = access(settings).tokens.check(token)
    assert (caller.subject, caller.scopes) == ("ada", frozenset({*settings.auth_scopes, "bio:read", "bio:write"}))
    assert timedelta(hours=23) < end - now() <= DAY


@pytest.mark.parametrize(
    ("scopes", "may_write"),
    [((), True), (("bio:read",), False), (("bio:write",), True), (("bio:read", "bio:write"), True)],
)
def test_a_token_says_whether_it_may_write(scopes, may_write):
    settings = Settings(auth_secret=SECRET)
    opened = access(settings)
    caller = opened.tokens.check(issue(settings, "ada", DAY, now(), scopes)[0])
    assert ("sync" in opened.permitted(caller).scopes) == may_write


@pytest.mark.parametrize("odd", ["", "bio read", 'bio"read', "x\\y", "é"])
def test_what_is_no_scope_is_not_issued(odd):
    with pytest.raises(InvalidInput, match="is no scope"):
        issue(Settings(auth_secret=SECRET), "ada", DAY, now(), [odd])


@pytest.mark.parametrize(
    ("given", "subject", "says"),
    [
        ({}, "ada", "MCP_AUTH_SECRET_KEY, which is not set"),
        (
            {"auth_jwks_url": "https://a.example/k", "auth_issuer": ISSUER, "resource_url": RESOURCE},
            "ada",
            "given out by the issuer alone",
        ),
        ({"auth_secret": "short"}, "ada", "too short"),
    ],
)
def test_without_a_secret_of_its_own_a_server_issues_nothing_and_says_why(given, subject, says):
    with pytest.raises(Misconfigured, match=says):
        issue(Settings(**given), subject, DAY, now())


def test_a_token_for_nobody_is_not_issued():
    with pytest.raises(InvalidInput, match="--subject"):
        issue(Settings(auth_secret=SECRET), "  ", DAY, now())


def test_the_command_line_prints_the_token_alone(cli):
    cli.settings["auth_secret"] = SECRET
    made = cli("token", "--subject", "ada", "--days", "7")
    assert (made.code, made.err) == (0, "")
    assert access(Settings(auth_secret=SECRET)).tokens.check(made.out.rstrip("\n")).subject == "ada"
    assert not (cli.home / "bio-mcp.log").exists()


def test_the_command_line_gives_a_token_scopes_and_a_tenant(cli):
    cli.settings["auth_secret"] = SECRET
    made = cli("token", "--subject", "ada", "--scopes", "read, live,read", "--scope", "other", "--tenant", "lab")
    opened = access(Settings(auth_secret=SECRET))
    caller = opened.permitted(opened.tokens.check(made.out.rstrip("\n")))
    assert (caller.scopes, caller.tenant) == ({"read", "live"}, "lab")


@pytest.mark.parametrize("odd", ["raed", "read,bio:write", "read live", "", ","])
def test_a_misspelt_scope_makes_no_token(cli, odd):
    cli.settings["auth_secret"] = SECRET
    made = cli("token", "--subject", "ada", "--scopes", odd)
    assert (made.code, made.out) == (2, "")
    assert "read, live, sync, ingest, admin" in made.err


@pytest.mark.parametrize(
    ("argv", "code", "named"),
    [
        (["--subject", "ada"], 1, "UNKNOWN"),
        (["--subject", "ada", "--days", "0"], 2, "VALIDATION"),
        (["--subject", "ada", "--days", "4000"], 2, "VALIDATION"),
        ([], 2, "VALIDATION"),
    ],
)
def test_the_command_line_says_what_it_takes(cli, argv, code, named):
    ended = cli("token", *argv, "--json")
    assert ended.code == code
    assert ended.json["error"]["code"] == named
