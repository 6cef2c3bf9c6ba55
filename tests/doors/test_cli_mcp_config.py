import json
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from bio_mcp.doors.cli.mcp_config import program
from bio_mcp.doors.client_configs.clients import CLIENTS

PROGRAM = str(Path(sys.executable).parent / "bio-mcp")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home directory in which clients have their files."""
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    (tmp_path / "ada").mkdir()
    return tmp_path / "ada"


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
