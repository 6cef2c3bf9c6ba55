"""`bio-mcp setup`, `skill` and `mcp-config`: what stands in a client's file stays, and it is written whole or not."""

import json
import stat
import sys
import threading
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED
from bio_mcp.doors.cli.client_files import into_json, into_toml, merged
from bio_mcp.doors.cli.connecting import CLIENTS, LARGEST, file_of, program, put
from bio_mcp.errors import InvalidInput
from bio_mcp.skills import NAMES, skill
from tests.adapters.embedders.tiny_model import published

PROGRAM = str(Path(sys.executable).parent / "bio-mcp")
HOME = Path("/home/ada")
URL = "https://lab.example/mcp"
OURS = {"command": "/opt/bio-mcp", "args": ["stdio"], "env": {"NCBI_ADMIN_EMAIL": "you@example.org"}}
BY_URL = {"url": URL}
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


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """The home directory of whoever types the command."""
    made = tmp_path / "person"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    return made


def files_in(directory):
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_skills_are_put_where_each_client_looks(cli, home, tmp_path, client):
    of_user, of_project = CLIENTS[client].skills
    project = tmp_path / "project"
    project.mkdir()
    assert cli("skill", "install", "--client", client).code == 0
    assert cli("skill", "install", "--client", client, "--project", str(project)).code == 0
    for place, below in ((home, of_user), (project, of_project)):
        assert files_in(place) == {f"{below}/{name}/SKILL.md": skill(name).content for name in NAMES}


def test_to_install_again_changes_nothing(cli, home):
    cli("skill", "install")
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    done = cli("skill", "install", "--json")
    assert (done.code, set(done.json["skills"].values())) == (0, {"unchanged"})
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before


def test_a_skill_that_somebody_changed_is_left_as_it_is_unless_replacing_it_is_asked_for(cli, home):
    own = home / ".claude/skills/systematic-search/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("my own")
    done = cli("skill", "install")
    assert done.code == 1
    assert "--force replaces it" in done.err
    assert own.read_text() == "my own"
    assert (home / ".claude/skills/check-references/SKILL.md").exists()
    forced = cli("skill", "install", "--force", "--json")
    assert (forced.code, forced.json["skills"]["systematic-search"]) == (0, "replaced")
    assert own.read_bytes() == skill("systematic-search").content


def test_a_place_that_cannot_be_written_is_reported(cli, home):
    (home / ".claude").write_text("no directory")
    done = cli("skill", "install")
    assert (done.code, "cannot be written: not a directory" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("name", "platform", "file"),
    [
        ("claude", "darwin", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude", "win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude", "linux", ".config/Claude/claude_desktop_config.json"),
        ("claude-code", "linux", ".claude.json"),
        ("vscode", "linux", ".config/Code/User/mcp.json"),
        ("cursor", "win32", ".cursor/mcp.json"),
        ("codex", "linux", ".codex/config.toml"),
        ("windsurf", "darwin", ".codeium/windsurf/mcp_config.json"),
    ],
)
def test_each_client_has_its_file(name, platform, file):
    assert file_of(CLIENTS[name], home=HOME, platform=platform) == HOME / file


@pytest.mark.parametrize(
    ("name", "section", "stdio", "http"),
    [
        ("claude", "mcpServers", {}, None),
        ("claude-code", "mcpServers", {"type": "stdio"}, {"type": "http", "url": URL}),
        ("vscode", "servers", {"type": "stdio"}, {"type": "http", "url": URL}),
        ("cursor", "mcpServers", {}, {"url": URL}),
        ("codex", "mcp_servers", {"startup_timeout_sec": 120}, {"url": URL}),
        ("windsurf", "mcpServers", {}, {"serverUrl": URL}),
    ],
)
def test_each_client_has_its_words_and_shows_what_it_writes(cli, home, name, section, stdio, http):
    loads = tomllib.loads if name == "codex" else json.loads
    options = ["--client", name, "--env", "NCBI_ADMIN_EMAIL=you@example.org"]
    shown = cli("mcp-config", *options)
    env = {"BIO_MCP_HOME": str(cli.home), "NCBI_ADMIN_EMAIL": "you@example.org"}
    wanted = {"command": PROGRAM, "args": ["stdio"], "env": env, **stdio}
    assert loads(shown.out) == {section: {"bio-mcp": wanted}}
    assert list(home.iterdir()) == []
    assert cli("mcp-config", *options, "--write").code == 0
    [file] = (path for path in home.rglob("*") if path.is_file())
    assert str(file) in shown.err.replace("\n", "")
    assert loads(file.read_text()) == loads(shown.out)
    assert "knows it already" in cli("mcp-config", *options, "--write").out
    assert list(file.parent.iterdir()) == [file]
    by_address = cli("mcp-config", "--client", name, "--http", URL, "--json").json
    assert by_address.get("entry") == http
    assert by_address.get("written", False) is False


def test_a_users_own_file_gets_it_and_keeps_its_mode_with_a_copy_of_what_it_was(cli, home):
    file = home / ".claude.json"
    file.write_text('{"numStartups": 7, "mcpServers": {"other": {"command": "x"}}}')
    file.chmod(0o600)
    ran = cli("mcp-config", "--client", "claude-code", "--write")
    assert json.loads(file.read_text())["mcpServers"] == {
        "other": {"command": "x"},
        "bio-mcp": {
            "type": "stdio",
            "command": PROGRAM,
            "args": ["stdio"],
            "env": {"BIO_MCP_HOME": str(cli.home), "NCBI_ADMIN_EMAIL": "test@example.org"},
        },
    }
    backup = home / ".claude.json.bak"
    assert json.loads(backup.read_text()) == {"numStartups": 7, "mcpServers": {"other": {"command": "x"}}}
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, backup)] == [0o600, 0o600]
    assert str(backup) in ran.out.replace("\n", "")
    cli("mcp-config", "--client", "claude-code", "--write", "--http", "http://127.0.0.1:3010/mcp")
    assert json.loads(backup.with_name(".claude.json.bak1").read_text())["mcpServers"]["bio-mcp"]["command"] == PROGRAM


def test_a_link_to_a_file_stays_one(cli, home, tmp_path):
    (tmp_path / "real.json").write_text("{}")
    (home / ".claude.json").symlink_to(tmp_path / "real.json")
    assert cli("mcp-config", "--client", "claude-code", "--write").code == 0
    assert (home / ".claude.json").is_symlink()
    assert "bio-mcp" in (tmp_path / "real.json").read_text()


@pytest.mark.parametrize("content", [b"{ / mine\n}", b"\xff\xfe", b"[1", b"[]", b" " * (LARGEST + 1)])
def test_a_file_that_cannot_be_read_is_left_alone(cli, home, content):
    file = home / ".claude.json"
    file.write_bytes(content)
    ran = cli("mcp-config", "--client", "claude-code", "--write")
    assert (ran.code, "left as it is" in ran.said) == (1, True)
    assert "by hand" in ran.err
    assert json.loads(ran.out)["mcpServers"]["bio-mcp"]["command"] == PROGRAM
    assert file.read_bytes() == content
    assert list(home.iterdir()) == [file]


def test_a_folder_in_the_files_place_is_an_error(cli, tmp_path):
    with pytest.raises(InvalidInput, match="was not written"):
        put(CLIENTS["cursor"], tmp_path, OURS)


def test_a_reader_never_sees_half_a_file(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {}, "filling": "x" * 200_000}))
    ended, read = threading.Event(), []

    def watch():
        while not ended.is_set():
            read.append("filling" in json.loads(path.read_text()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for number in range(5):
            put(CLIENTS["cursor"], path, {"command": f"/opt/{number}"})
    finally:
        ended.set()
        watcher.join()
    assert read
    assert all(read)


def test_a_project_gets_its_own_file(cli, tmp_path):
    assert cli("mcp-config", "--client", "vscode", "--project", str(tmp_path), "--write", "--uvx").code == 0
    entry = json.loads((tmp_path / ".vscode/mcp.json").read_text())["servers"]["bio-mcp"]
    assert entry["args"] == ["bio-mcp-literature", "stdio"]
    assert Path(entry["command"]).name == "uvx"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--client", "claude", "--http", "http://127.0.0.1:3010/mcp"], "Connectors"),
        (["--client", "windsurf", "--project", "."], "leave out --project"),
        (["--client", "cursor", "--http", "http://user:pass@lab.example/mcp"], "address of an endpoint"),
        (["--client", "cursor", "--http", "file:///etc/passwd"], "address of an endpoint"),
        (["--client", "cursor", "--env", "key"], "NAME=VALUE"),
        (
            ["--client", "cursor", "--env", "NCBI_EMAIL=a@b.org"],
            "no variable NCBI_EMAIL; did you mean NCBI_ADMIN_EMAIL?",
        ),
        (["--client", "cursor", "--env", "ZZZ=1"], "no variable ZZZ. docs/settings.md lists the settings"),
        (["--client", "cursor", "--env", "NCBI_API_KEY"], "NCBI_API_KEY is not set here"),
    ],
)
def test_what_makes_no_sense_is_reported(cli, arguments, message):
    ran = cli("mcp-config", *arguments, "--write")
    assert (ran.code, message in ran.said) == (1, True)


def test_an_environment_that_uv_throws_away_is_never_named():
    made = program(environment="/home/ada/.cache/uv/archive-v0/abc")
    assert Path(made["command"]).name == "uvx"
    assert made["args"] == ["bio-mcp-literature", "stdio"]
    assert program(environment="/home/ada/.local/share/uv/tools/bio-mcp-literature")["command"] == PROGRAM


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
    made = into_json(text, "servers", OURS)
    assert json.loads(made.removeprefix("\ufeff")) == {"servers": {"bio-mcp": OURS}}


JSONC = """\
{
\t// what I use "mcpServers": {
\t"servers": {
\t\t"other": { "command": "x", "args": ["//", ",]"] }, // why, and how
\t\t/* and
\t\t   more */
\t},
\t"inputs": [1, 2,],
}
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("comma", [",", ""])
def test_comments_last_commas_tabs_and_line_ends_of_a_json_file_stay(end, comma):
    before = JSONC.replace("}, // why", f"}}{comma} // why").replace("\n", end)
    made = into_json(before, "servers", OURS)
    lines = [each for each in made.split(end) if each.strip()]
    assert [each.rstrip(end) for each in before.split(end) if each.strip() and each not in lines] == (
        [] if comma else ['\t\t"other": { "command": "x", "args": ["//", ",]"] } // why, and how']
    )
    assert f'{end}\t\t"bio-mcp": {{{end}\t\t\t"command": "/opt/bio-mcp",{end}' in made
    assert into_json(made, "servers", OURS) == made
    other = into_json(made, "servers", {**OURS, "command": "/elsewhere"})
    assert other == made.replace("/opt/bio-mcp", "/elsewhere")
    assert f'{end}\t"mcpServers": {{{end}\t\t"bio-mcp": {{{end}' in into_json(before, "mcpServers", OURS)


def test_a_comment_within_our_own_entry_is_not_lost(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"bio-mcp": {"command": "x" /* mine */}}}')
    with pytest.raises(InvalidInput, match="comments, which would be lost"):
        put(CLIENTS["cursor"], file, OURS)


def test_what_somebody_added_to_this_server_stays_and_how_it_starts_is_replaced():
    old = {"command": "/old", "args": ["x"], "startup_timeout_sec": 9, "disabled": True, "env": {"A": "b"}}
    assert merged(old, OURS) == {**OURS, "env": {"A": "b", **OURS["env"]}, "disabled": True}
    assert merged(old, BY_URL) == {"url": URL, "disabled": True}
    assert merged({"args": ["stdio", "--tools", "all"]}, OURS)["args"] == ["stdio", "--tools", "all"]
    by_uvx = {**OURS, "command": "uvx", "args": ["bio-mcp-literature", "stdio"]}
    assert merged({"args": ["stdio", "--tools", "all"]}, by_uvx)["args"] == [*by_uvx["args"], "--tools", "all"]


@pytest.mark.parametrize(
    "text",
    [
        "3",
        '{"mcpServers": []}',
        '{"mcpServers": {"bio-mcp": "x"}}',
        '{"mcpServers": {"a": 1, "a": 2}}',
        "[" * 100_000,
    ],
)
def test_json_that_is_broken_or_would_lose_something_is_refused(tmp_path, text):
    (tmp_path / "mcp.json").write_text(text)
    with pytest.raises(InvalidInput, match="left as it is"):
        put(CLIENTS["cursor"], tmp_path / "mcp.json", OURS)


def test_other_lines_of_toml_stay_to_the_letter():
    made = into_toml(TOML, "mcp_servers", OURS)
    before, after = tomllib.loads(TOML), tomllib.loads(made)
    ours = after["mcp_servers"].pop("bio-mcp")
    assert before["mcp_servers"].pop("bio-mcp")
    assert after == before
    assert ours == merged({"enabled_tools": ["rag_search"], "env": {"BIO_MCP_HOME": "/data"}}, OURS)
    assert [line for line in TOML.splitlines() if "#" in line] == [line for line in made.splitlines() if "#" in line]
    assert into_toml(made, "mcp_servers", OURS) == made


def test_a_file_without_servers_gets_the_table_at_its_end():
    assert into_toml('model = "o5"\n', "mcp_servers", BY_URL) == (
        f'model = "o5"\n\n[mcp_servers.bio-mcp]\nurl = "{URL}"\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "model =",
        "mcp_servers = 3",
        'mcp_servers.bio-mcp.command = "x"',
        'text = """\n[mcp_servers.bio-mcp]\n"""\n[mcp_servers.bio-mcp]\ncommand = "x"\n',
        "[mcp_servers.bio-mcp]\nsince = 2026-01-01\n",
    ],
)
def test_toml_that_is_broken_or_of_another_form_is_refused(tmp_path, text):
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(InvalidInput, match="left as it is"):
        put(CLIENTS["codex"], tmp_path / "config.toml", OURS)


@pytest.mark.parametrize(
    "text",
    [
        'a = 1 # why\nmcp_servers = { gh = { command = "x", args = ["}", "{"] } } # and\nb = 2\n',
        'a = 1 # why\nmcp_servers = { gh = {}, bio-mcp = { command = "x" } } # and\nb = 2\n',
        'a = 1 # why\n[mcp_servers]\n"bio-mcp" = { command = "x", env = { A = "b" } } # and\n[b]\n',
    ],
)
def test_tables_of_toml_in_one_line_are_changed_there(text):
    made = into_toml(text, "mcp_servers", OURS)
    before, after = tomllib.loads(text), tomllib.loads(made)
    ours, theirs = after["mcp_servers"].pop("bio-mcp"), before["mcp_servers"].pop("bio-mcp", {})
    assert (ours, after) == (merged(theirs, OURS), before)
    assert [line.partition("#")[2] for line in made.splitlines()] == [
        line.partition("#")[2] for line in text.splitlines()
    ]


def test_line_ends_of_a_toml_file_stay():
    made = into_toml(TOML.replace("\n", "\r\n"), "mcp_servers", OURS)
    assert made.replace("\r\n", "\n") == into_toml(TOML, "mcp_servers", OURS)
    assert made.count("\n") == made.count("\r\n")


def test_settings_of_this_shell_go_with_it_and_secrets_only_where_they_are_asked_for(cli, home):
    cli.settings |= {"index_name": "mine", "ncbi_api_key": "s3cret", "http_port": 4000}
    cli.settings |= {"openai_base_url": f"https://me:{'s3cret'}@llm.example/v1"}
    shown = cli("mcp-config", "--client", "cursor")
    env = {"BIO_MCP_HOME": str(cli.home), "BIO_MCP_INDEX": "mine", "NCBI_ADMIN_EMAIL": "test@example.org"}
    assert json.loads(shown.out)["mcpServers"]["bio-mcp"]["env"] == env
    said = " ".join(shown.err.split())
    assert "BIO_MCP_INDEX=mine" in said
    assert "Left out, as secrets: NCBI_API_KEY, OPENAI_BASE_URL. --env NCBI_API_KEY writes it." in said
    assert "s3cret" not in shown.out + shown.err
    asked = cli("mcp-config", "--client", "cursor", "--env", "NCBI_API_KEY", "--env", "BIO_MCP_INDEX=other", "--json")
    assert asked.json["entry"]["env"] == {**env, "BIO_MCP_INDEX": "other", "NCBI_API_KEY": "s3cret"}
    assert "env" not in cli("mcp-config", "--client", "cursor", "--http", URL, "--json").json["entry"]


@given(st.dictionaries(TEXTS.filter(bool), TEXTS))
def test_any_name_and_text_can_be_written_in_toml(variables):
    written = tomllib.loads(into_toml("", "mcp_servers", {"command": "x", "env": variables}))
    assert written["mcp_servers"]["bio-mcp"]["env"] == variables


def test_the_model_of_the_package_is_checked_and_named_with_what_comes_next(cli):
    ran = cli("setup")
    assert ran.code == 0
    assert ran.out.replace("\n", "").startswith(f"The embedding model is in {PACKAGED / DEFAULT}")
    assert "bio-mcp mcp-config" in ran.out


def test_a_model_that_is_missing_or_harmed_is_an_error_of_one_sentence(cli, tmp_path):
    cli.settings |= {"models": tmp_path / "models", "embedding_model": "tiny"}
    ran = cli("setup")
    assert (ran.code, "tiny is not on this machine" in ran.said) == (1, True)
    cli("admin", "models", "add", str(published(tmp_path / "tiny")))
    assert cli("setup").code == 0
    (tmp_path / "models/tiny/model.onnx").write_bytes(b"harmed")
    assert "damaged" in cli("setup").err


def test_the_vectors_of_an_endpoint_are_not_looked_for_here(cli):
    cli.settings |= {"embeddings": "openai", "embedding_model": "large"}
    assert "large of the provider openai" in cli("setup").said
