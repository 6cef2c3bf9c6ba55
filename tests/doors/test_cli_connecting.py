"""`bio-mcp setup`, `skill` and `mcp-config`, and under `admin` who may sign in."""

import json
import stat
import sys
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from bio_mcp.adapters.embedded.side_files import SqliteAuthorizations
from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED
from bio_mcp.callers import Caller
from bio_mcp.doors.auth.sessions import People
from bio_mcp.doors.cli.connecting import DIRECTORIES, program
from bio_mcp.doors.client_configs import CLIENTS
from bio_mcp.skills import NAMES, skill
from tests.adapters.embedders.tiny_model import published
from tests.doors.auth.minting import RESOURCE, SECRET


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


def expected(below):
    return {f"{below}/{name}/SKILL.md": skill(name).content for name in NAMES}


@pytest.mark.parametrize("client", DIRECTORIES)
def test_the_skills_are_put_where_each_client_looks(cli, home, tmp_path, client):
    of_user, of_project = DIRECTORIES[client]
    assert cli("skill", "install", "--client", client).code == 0
    assert files_in(home) == expected(of_user)
    project = tmp_path / "project"
    project.mkdir()
    assert cli("skill", "install", "--client", client, "--project", str(project)).code == 0
    assert files_in(project) == expected(of_project)


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
    assert done.code == 1
    assert "cannot be written: not a directory" in done.err


PROGRAM = str(Path(sys.executable).parent / "bio-mcp")


def test_without_write_it_is_shown_and_nothing_is_written(cli, home):
    ran = cli("mcp-config", "--client", "vscode")
    assert json.loads(ran.out) == {"servers": {"bio-mcp": {"type": "stdio", "command": PROGRAM, "args": ["stdio"]}}}
    assert ".config/Code/User/mcp.json" in ran.err.replace("\n", "") or sys.platform != "linux"
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_shown_is_written_once_and_starts_this_program(cli, tmp_path, client):
    file = tmp_path / ("config.toml" if client == "codex" else "config.json")
    loads = tomllib.loads if client == "codex" else json.loads
    options = ["--client", client, "--file", str(file), "--env", "NCBI_ADMIN_EMAIL=you@example.org"]
    shown = cli("mcp-config", *options)
    assert cli("mcp-config", *options, "--write").code == 0
    written = file.read_text()
    assert loads(written) == loads(shown.out)
    entry = loads(written)[CLIENTS[client].section]["bio-mcp"]
    assert entry["env"] == {"NCBI_ADMIN_EMAIL": "you@example.org"}
    assert entry["command"] == PROGRAM
    assert Path(PROGRAM).exists()
    again = cli("mcp-config", *options, "--write")
    assert "knows it already" in again.out
    assert file.read_text() == written
    assert not list(tmp_path.glob("config.*.bak*"))


def test_a_users_own_file_gets_it_and_keeps_its_mode_with_a_copy_of_what_it_was(cli, home):
    file = home / ".claude.json"
    file.write_text('{"numStartups": 7, "mcpServers": {"other": {"command": "x"}}}')
    file.chmod(0o600)
    ran = cli("mcp-config", "--client", "claude-code", "--write")
    assert json.loads(file.read_text())["mcpServers"] == {
        "other": {"command": "x"},
        "bio-mcp": {"type": "stdio", "command": PROGRAM, "args": ["stdio"]},
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    backup = home / ".claude.json.bak"
    assert json.loads(backup.read_text()) == {"numStartups": 7, "mcpServers": {"other": {"command": "x"}}}
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert str(backup) in ran.out.replace("\n", "")
    cli("mcp-config", "--client", "claude-code", "--write", "--http", "http://127.0.0.1:3010/mcp")
    assert backup.with_name(".claude.json.bak1").exists()


def test_a_link_to_a_file_stays_one(cli, home, tmp_path):
    (tmp_path / "real.json").write_text("{}")
    (home / ".claude.json").symlink_to(tmp_path / "real.json")
    assert cli("mcp-config", "--client", "claude-code", "--write").code == 0
    assert (home / ".claude.json").is_symlink()
    assert "bio-mcp" in (tmp_path / "real.json").read_text()


@pytest.mark.parametrize("content", [b"{ // mine\n}", b"\xff\xfe", b"[1"])
def test_a_file_that_cannot_be_read_is_left_alone(cli, home, content):
    file = home / ".claude.json"
    file.write_bytes(content)
    ran = cli("mcp-config", "--client", "claude-code", "--write")
    assert ran.code == 1
    assert "left as it is" in " ".join(ran.err.split())
    assert file.read_bytes() == content
    assert list(home.iterdir()) == [file]


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
    ],
)
def test_what_makes_no_sense_is_reported(cli, arguments, message):
    ran = cli("mcp-config", *arguments, "--write")
    assert ran.code == 1
    assert message in " ".join(ran.err.split())


def test_an_environment_that_uv_throws_away_is_never_named():
    made = program({}, environment="/home/ada/.cache/uv/archive-v0/abc")
    assert Path(made.program).name == "uvx"
    assert made.arguments == ("bio-mcp-literature", "stdio")
    assert program({}, environment="/home/ada/.local/share/uv/tools/bio-mcp-literature").program == PROGRAM


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
    assert "1 entry of ann ended" in locked("admin", "people", "--subject", "ann", "--revoke").out
    assert "ann has nothing open" in locked("admin", "people", "--subject", "ann").out
    assert [each["tenant"] for each in locked("admin", "people", "--json").json["people"]] == ["lab"]


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
    assert (ran.code, says in " ".join(ran.err.split())) == (code, True)


def test_without_tokens_nobody_signs_in_and_it_says_what_to_set(cli):
    ran = cli("admin", "invite", "--subject", "ann")
    assert (ran.code, "MCP_AUTH_SECRET_KEY" in ran.err) == (1, True)


def test_one_of_several_links_ends_by_its_id(locked):
    for _ in range(2):
        locked("admin", "invite", "--subject", "ann")
    first, second = locked("admin", "people", "--subject", "ann", "--json").json["invitations"]
    assert locked("admin", "people", "--subject", "ann", "--end", first["id"], "--json").json["ended"] == 1
    assert locked("admin", "people", "--subject", "ann", "--json").json["invitations"] == [second]


def test_the_model_of_the_package_is_checked_and_named_with_what_comes_next(cli):
    ran = cli("setup")
    assert ran.code == 0
    assert ran.out.replace("\n", "").startswith(f"The embedding model is in {PACKAGED / DEFAULT}")
    assert "bio-mcp mcp-config" in ran.out


def test_a_model_that_is_missing_or_harmed_is_an_error_of_one_sentence(cli, tmp_path):
    cli.settings |= {"models": tmp_path / "models", "embedding_model": "tiny"}
    ran = cli("setup")
    assert ran.code == 1
    assert "tiny is not on this machine" in " ".join(ran.err.split())
    cli("admin", "models", "add", str(published(tmp_path / "tiny")))
    assert cli("setup").code == 0
    (tmp_path / "models/tiny/model.onnx").write_bytes(b"harmed")
    assert "damaged" in cli("setup").err


def test_the_vectors_of_an_endpoint_are_not_looked_for_here(cli):
    cli.settings |= {"embeddings": "openai", "embedding_model": "large"}
    assert "large of the provider openai" in " ".join(cli("setup").out.split())
