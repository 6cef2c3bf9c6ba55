"""Which clients there are, where each looks for its servers, and in which words."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAME = "bio-mcp"
CODEX_STARTUP_S = 120  # Codex waits ten seconds, in which uvx has not installed anything yet

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments and variables, which a client starts."""

    program: str
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Client:
    """A client: `section` is the key of its servers, `of_user` gives its file in a home directory.

    `of_project` is its file in a project, "" where it reads none. `by_http` makes the entry of an address; None where
    its file takes none.
    """

    title: str
    section: str
    of_user: Callable[[Path, str], Path]
    of_project: str
    by_stdio: Callable[[Command], Entry]
    by_http: Callable[[str], Entry] | None

    def entry(self, started: Command | str) -> Entry | None:
        """What stands under this server's name: for a command, or for the address of an endpoint."""
        if isinstance(started, Command):
            return self.by_stdio(started)
        return self.by_http(started) if self.by_http else None


def _untyped(command: Command) -> Entry:
    started: Entry = {"command": command.program, "args": list(command.arguments)}
    return started | {"env": dict(command.variables)} if command.variables else started


def _typed(command: Command) -> Entry:
    return {"type": "stdio", **_untyped(command)}


def _patient(command: Command) -> Entry:
    return _untyped(command) | {"startup_timeout_sec": CODEX_STARTUP_S}


def _application_data(home: Path, platform: str) -> Path:
    """Where programs with windows have their settings."""
    if platform == "darwin":
        return home / "Library/Application Support"
    return home / "AppData/Roaming" if platform == "win32" else home / ".config"


CLIENTS = {
    "claude": Client(
        "Claude Desktop",
        "mcpServers",
        lambda home, platform: _application_data(home, platform) / "Claude/claude_desktop_config.json",
        "",
        _untyped,
        None,
    ),
    "claude-code": Client(
        "Claude Code",
        "mcpServers",
        lambda home, _: home / ".claude.json",
        ".mcp.json",
        _typed,
        lambda url: {"type": "http", "url": url},
    ),
    "vscode": Client(
        "VS Code",
        "servers",
        lambda home, platform: _application_data(home, platform) / "Code/User/mcp.json",
        ".vscode/mcp.json",
        _typed,
        lambda url: {"type": "http", "url": url},
    ),
    "cursor": Client(
        "Cursor",
        "mcpServers",
        lambda home, _: home / ".cursor/mcp.json",
        ".cursor/mcp.json",
        _untyped,
        lambda url: {"url": url},
    ),
    "codex": Client(
        "Codex",
        "mcp_servers",
        lambda home, _: home / ".codex/config.toml",
        ".codex/config.toml",
        _patient,
        lambda url: {"url": url},
    ),
    "windsurf": Client(
        "Windsurf",
        "mcpServers",
        lambda home, _: home / ".codeium/windsurf/mcp_config.json",
        "",
        _untyped,
        lambda url: {"serverUrl": url},
    ),
}


def file_of(
    client: Client, project: Path | None = None, home: Path | None = None, platform: str = sys.platform
) -> Path:
    """The file that a client reads: in a project, else the user's own."""
    return project / client.of_project if project else client.of_user(home or Path.home(), platform)
