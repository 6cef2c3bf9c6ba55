"""Each client has its file, its key and its words: their documentation says which."""

from pathlib import Path

import pytest

from bio_mcp.doors.client_configs import CLIENTS, Command, file_of

HOME = Path("/home/ada")
STDIO = Command("/opt/bio-mcp", ("stdio",))
URL = "https://lab.example/mcp"


@pytest.mark.parametrize(
    ("name", "platform", "file"),
    [
        ("claude", "darwin", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude", "win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude", "linux", ".config/Claude/claude_desktop_config.json"),
        ("claude-code", "linux", ".claude.json"),
        ("vscode", "darwin", "Library/Application Support/Code/User/mcp.json"),
        ("vscode", "linux", ".config/Code/User/mcp.json"),
        ("cursor", "win32", ".cursor/mcp.json"),
        ("codex", "linux", ".codex/config.toml"),
        ("windsurf", "darwin", ".codeium/windsurf/mcp_config.json"),
    ],
)
def test_the_file_of_a_user(name, platform, file):
    assert file_of(CLIENTS[name], home=HOME, platform=platform) == HOME / file


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("claude-code", ".mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("codex", ".codex/config.toml"),
    ],
)
def test_the_file_of_a_project(name, file):
    assert file_of(CLIENTS[name], Path("/project")) == Path("/project") / file


@pytest.mark.parametrize(
    ("name", "section", "by_stdio", "by_http"),
    [
        ("claude", "mcpServers", {}, None),
        ("claude-code", "mcpServers", {"type": "stdio"}, {"type": "http", "url": URL}),
        ("vscode", "servers", {"type": "stdio"}, {"type": "http", "url": URL}),
        ("cursor", "mcpServers", {}, {"url": URL}),
        ("codex", "mcp_servers", {"startup_timeout_sec": 120}, {"url": URL}),
        ("windsurf", "mcpServers", {}, {"serverUrl": URL}),
    ],
)
def test_the_words_of_a_client(name, section, by_stdio, by_http):
    client = CLIENTS[name]
    assert client.section == section
    assert client.entry(STDIO) == {"command": "/opt/bio-mcp", "args": ["stdio"], **by_stdio}
    assert client.entry(URL) == by_http


def test_settings_of_the_program_are_its_environment():
    command = Command("uvx", ("bio-mcp-literature", "stdio"), {"NCBI_API_KEY": "k"})
    assert all(client.entry(command)["env"] == {"NCBI_API_KEY": "k"} for client in CLIENTS.values())
