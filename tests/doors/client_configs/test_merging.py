"""What stands in a client's file stays, whatever it is."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.doors.client_configs import CLIENTS, Command, Refused, as_json, as_toml, into_json, into_toml

OURS = CLIENTS["claude"].entry(Command("/opt/bio-mcp", ("stdio",), {"NCBI_ADMIN_EMAIL": "you@example.org"}))
BY_URL = CLIENTS["codex"].entry("https://lab.example/mcp")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)

TOML = """\
# mine
model = "o5"

[mcp_servers.other]
command = "other" # why
args = ["[mcp_servers.bio-mcp]"]

[mcp_servers.bio-mcp]
command = "/old/bio-mcp"
args = ["stdio"]
enabled_tools = ["rag_search"]

[mcp_servers.bio-mcp.env]
BIO_MCP_HOME = "/data"

[tui]
theme = "dark"
[[profiles]]
name = "a"
"""


@given(
    others=st.dictionaries(TEXTS, VALUES), servers=st.dictionaries(TEXTS.filter(lambda name: name != "bio-mcp"), VALUES)
)
def test_everything_else_of_a_json_file_stays(others, servers):
    before = {**others, "mcpServers": servers}
    made = into_json(json.dumps(before), "mcpServers", OURS)
    assert json.loads(made) == {**before, "mcpServers": {**servers, "bio-mcp": OURS}}
    assert list(json.loads(made)) == list(before)
    assert into_json(made, "mcpServers", OURS) == made


@pytest.mark.parametrize("text", ["", "  \n", "{}", "\ufeff{}"])
def test_an_empty_file_gets_the_server_alone(text):
    assert json.loads(into_json(text, "servers", OURS)) == {"servers": {"bio-mcp": OURS}}


def test_what_somebody_added_to_this_server_stays_and_how_it_starts_is_replaced():
    old = {
        "command": "/old",
        "args": ["x"],
        "disabled": True,
        "env": {"BIO_MCP_HOME": "/data", "NCBI_ADMIN_EMAIL": "a@b.c"},
    }
    made = json.loads(into_json(json.dumps({"mcpServers": {"bio-mcp": old}}), "mcpServers", OURS))["mcpServers"][
        "bio-mcp"
    ]
    assert made == {**OURS, "env": {"BIO_MCP_HOME": "/data", **OURS["env"]}, "disabled": True}


def test_a_program_that_becomes_an_address_takes_no_command_or_variables_along():
    old = {"command": "/old", "args": ["stdio"], "env": {"A": "b"}, "startup_timeout_sec": 120, "enabled": False}
    made = tomllib.loads(into_toml(as_toml("mcp_servers", old), "mcp_servers", BY_URL))
    assert made["mcp_servers"]["bio-mcp"] == {"url": "https://lab.example/mcp", "enabled": False}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "3",
        '{"mcpServers": []}',
        '{"mcpServers": {"bio-mcp": "x"}}',
        '{"mcpServers": {}, // mine\n}',
        '{"mcpServers": {"a": 1, "a": 2}}',
        "[" * 100_000,
    ],
)
def test_json_that_is_broken_or_would_lose_something_is_refused(text):
    with pytest.raises(Refused):
        into_json(text, "mcpServers", OURS)


def test_other_lines_of_toml_stay_to_the_letter():
    made = into_toml(TOML, "mcp_servers", OURS)
    before, after = tomllib.loads(TOML), tomllib.loads(made)
    ours = after["mcp_servers"].pop("bio-mcp")
    assert before["mcp_servers"].pop("bio-mcp")
    assert after == before
    assert ours["env"] == {"BIO_MCP_HOME": "/data", "NCBI_ADMIN_EMAIL": "you@example.org"}
    assert ours["enabled_tools"] == ["rag_search"]
    assert ours["command"] == "/opt/bio-mcp"
    assert [line for line in TOML.splitlines() if "#" in line] == [line for line in made.splitlines() if "#" in line]
    assert into_toml(made, "mcp_servers", OURS) == made


def test_a_file_without_servers_gets_the_table_at_its_end():
    assert into_toml('model = "o5"\n', "mcp_servers", BY_URL) == (
        'model = "o5"\n\n[mcp_servers.bio-mcp]\nurl = "https://lab.example/mcp"\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "model =",
        "mcp_servers = 3",
        'mcp_servers = { bio-mcp = { command = "x" } }',
        'mcp_servers.bio-mcp.command = "x"',
        'text = """\n[mcp_servers.bio-mcp]\n"""\n[mcp_servers.bio-mcp]\ncommand = "x"\n',
        "[mcp_servers.bio-mcp]\nsince = 2026-01-01\n",
    ],
)
def test_toml_that_is_broken_or_of_another_form_is_refused(text):
    with pytest.raises(Refused):
        into_toml(text, "mcp_servers", OURS)


@given(st.dictionaries(TEXTS.filter(bool), TEXTS))
def test_any_name_and_text_can_be_written_in_toml(variables):
    written = tomllib.loads(as_toml("mcp_servers", {"command": "x", "env": variables}))
    assert written["mcp_servers"]["bio-mcp"]["env"] == variables


def test_what_is_shown_is_what_is_written():
    assert json.loads(as_json("servers", OURS)) == json.loads(into_json("", "servers", OURS))
    assert as_toml("mcp_servers", BY_URL) == into_toml("", "mcp_servers", BY_URL)
