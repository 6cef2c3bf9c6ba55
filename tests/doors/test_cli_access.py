"""`bio-mcp token`, `bio-mcp admin invite`, `people` and `client`: who may call and sign in, and by which program."""

from contextlib import closing

import pytest

from bio_mcp.adapters.embedded.side_files import SqliteAuthorizations
from bio_mcp.callers import SCOPES, Caller
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.clients import registered
from bio_mcp.doors.auth.sessions import People
from bio_mcp.doors.auth.tokens import TokenRejected, hmac_keys
from bio_mcp.settings import Settings
from tests.doors.auth.minting import RESOURCE, SECRET


@pytest.fixture
def locked(cli):
    cli.settings = {"auth_secret": SECRET, "resource_url": RESOURCE}
    return cli


def test_a_link_signs_in_whom_it_names(locked):
    ran = locked("admin", "invite", "--subject", "ann", "--scopes", "read,sync", "--tenant", "lab")
    base, _, code = ran.out.strip().partition("?code=")
    assert (ran.code, base) == (0, "https://mcp.example.org/sign-in")
    with closing(SqliteAuthorizations(locked.home)) as store:
        assert People(lambda: store).accept(code) == Caller("ann", frozenset({"read", "sync"}), "lab")


def test_who_was_invited_is_listed_and_ended(locked):
    assert "Nobody was invited" in locked("admin", "people").out
    locked("admin", "invite", "--subject", "ann", "--tenant", "lab")
    locked("admin", "invite", "--subject", "ann")
    listed = locked("admin", "people", "--json").json["people"]
    assert listed == [
        {"subject": "ann", "tenant": "", "scopes": ["read", "live"]},
        {"subject": "ann", "tenant": "lab", "scopes": ["read", "live"]},
    ]
    assert "lab" in locked("admin", "people").out
    [invitation] = locked("admin", "people", "--subject", "ann", "--json").json["invitations"]
    assert invitation["scopes"] == ["read", "live"]
    assert "invitation" in locked("admin", "people", "--subject", "ann").out
    assert "Ended of ann: 1." in locked("admin", "people", "--subject", "ann", "--revoke").out
    assert "ann has nothing open" in locked("admin", "people", "--subject", "ann").out
    assert [each["tenant"] for each in locked("admin", "people", "--json").json["people"]] == ["lab"]


def holder(cli, token):
    """Who holds a token, as the endpoint sees it."""
    with closing(SqliteAuthorizations(cli.home)) as store:
        opened = access(Settings(**cli.settings), lambda: store)
        return opened.permitted(opened.tokens.check(token))


def test_a_token_is_printed_alone_listed_and_good_until_it_is_ended(locked):
    made = locked("token", "--subject", "nightly job", "--days", "7")
    token = made.out.removesuffix("\n")
    assert (made.code, made.err, (locked.home / "bio-mcp.log").exists()) == (0, "", False)
    assert holder(locked, token) == Caller("nightly job")
    [person] = locked("admin", "people", "--json").json["people"]
    assert (person["subject"], person["scopes"]) == ("nightly job", list(SCOPES))
    [listed] = locked("admin", "people", "--subject", "nightly job", "--json").json["tokens"]
    assert listed["scopes"] == list(SCOPES)
    assert locked("admin", "people", "--subject", "nightly job", "--end", listed["id"], "--json").json["ended"] == 1
    with pytest.raises(TokenRejected, match="was ended"):
        holder(locked, token)


def test_a_token_does_what_its_scopes_say_in_its_tenant_and_leaves_what_an_invitation_allows(locked):
    locked("admin", "invite", "--subject", "ada", "--tenant", "lab")
    made = locked("token", "--subject", "ada", "--scopes", "sync, read,read", "--scope", "other", "--tenant", "lab")
    assert holder(locked, made.out.rstrip("\n")) == Caller("ada", frozenset({"read", "sync"}), "lab")
    [person] = locked("admin", "people", "--json").json["people"]
    assert person == {"subject": "ada", "tenant": "lab", "scopes": ["read", "live"]}


@pytest.mark.parametrize("odd", ["raed", "read,bio:write", "read live", "", ","])
def test_a_misspelt_scope_makes_no_token(locked, odd):
    made = locked("token", "--subject", "ada", "--scopes", odd)
    assert (made.code, made.out) == (2, "")
    assert "read, live, sync, ingest, admin" in made.err


@pytest.mark.parametrize(
    ("argv", "code", "named"),
    [
        (["--subject", "ada"], 1, "UNKNOWN"),
        (["--subject", "ada", "--days", "0"], 2, "VALIDATION"),
        (["--subject", "ada", "--days", "366"], 2, "VALIDATION"),
        ([], 2, "VALIDATION"),
    ],
    ids=["no secret", "no day", "more than a year", "nobody"],
)
def test_the_command_says_what_a_token_takes(cli, argv, code, named):
    ended = cli("token", *argv, "--json")
    assert (ended.code, ended.json["error"]["code"]) == (code, named)


def test_a_program_is_given_the_same_id_and_secret_each_time(locked):
    first, again, other = (
        locked("admin", "client", "--name", name, "--json").json for name in ("Claude", "Claude", "VS Code")
    )
    assert first == again
    assert first["issuer"] == "https://mcp.example.org"
    assert {first["client_id"], first["client_secret"]}.isdisjoint({other["client_id"], other["client_secret"]})
    assert locked("admin", "client", "--name", "Claude").out.split()[1::2] == list(first.values())
    assert registered(first["client_id"], hmac_keys([SECRET])).client_secret == first["client_secret"]


def test_without_an_authorization_server_there_is_no_program(cli):
    for settings in ({}, {"auth_secret": SECRET}):
        cli.settings = settings
        ran = cli("admin", "client", "--name", "Claude")
        assert (ran.code, "MCP_RESOURCE_URL" in ran.said) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["admin", "invite", "--subject", "a b"], 1, "64 letters"),
        (["admin", "invite", "--subject", "ann", "--scopes", "write"], 2, "there is no scope 'write'"),
        (["admin", "people", "--revoke"], 2, "--revoke need --subject"),
        (["admin", "people", "--end", "x" * 12], 2, "--revoke need --subject"),
        (["admin", "people", "--subject", "ann", "--end", ""], 2, "is no id"),
    ],
)
def test_a_mistake_is_named(locked, arguments, code, says):
    ran = locked(*arguments)
    assert (ran.code, says in ran.said) == (code, True)


def test_without_tokens_nobody_signs_in_and_it_says_what_to_set(cli):
    ran = cli("admin", "invite", "--subject", "ann")
    assert (ran.code, "MCP_AUTH_SECRET_KEY" in ran.err) == (1, True)


def test_one_of_several_links_ends_by_its_id(locked):
    for _ in range(2):
        locked("admin", "invite", "--subject", "ann")
    first, second = locked("admin", "people", "--subject", "ann", "--json").json["invitations"]
    assert locked("admin", "people", "--subject", "ann", "--end", first["id"], "--json").json["ended"] == 1
    assert locked("admin", "people", "--subject", "ann", "--json").json["invitations"] == [second]
