"""The files in which MCP clients list their servers: where each client has its own, and how this server is put in.

Everything else of a file stays as it is. What cannot be changed without losing something (comments in JSON, names that
stand twice, forms of TOML that are not understood) is refused.
"""

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile
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


HOW_IT_STARTS = {"type", "command", "args", "url", "serverUrl", "startup_timeout_sec"}


class Refused(Exception):
    """The file cannot be changed without losing something: the message says why."""


def into_json(text: str, section: str, entry: Entry) -> str:
    """The file's text with `entry` under the server's name in `section`. Raises `Refused`."""
    document = _json(text) if text.strip() else {}
    servers = _table(document, section)
    wanted = merged(_table(servers, NAME), entry)
    if servers.get(NAME) == wanted:
        return text
    document[section] = {**servers, NAME: wanted}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def into_toml(text: str, section: str, entry: Entry) -> str:
    """As `into_json`, for a file of TOML, whose other lines stay to the letter."""
    before = _toml(text)
    servers = _table(before, section)
    wanted = merged(_table(servers, NAME), entry)
    if servers.get(NAME) == wanted:
        return text
    rest = _without_tables(text, f"{section}.{NAME}").rstrip("\n")
    made = f"{rest}\n\n{as_toml(section, wanted)}".lstrip("\n")
    if _toml(made) != {**before, section: {**servers, NAME: wanted}}:
        raise Refused(f"it lists {NAME} in a form that this command cannot change; remove that first")
    return made


def merged(old: Mapping[str, Any], entry: Entry) -> Entry:
    """The new entry, with what somebody added to the old one: variables, and what a client stores there."""
    added = {key: value for key, value in old.items() if key not in HOW_IT_STARTS and key not in entry}
    if "command" not in entry:
        added.pop("env", None)  # an endpoint takes no variables
    elif isinstance(old.get("env"), Mapping) and "env" in entry:
        entry = {**entry, "env": {**old["env"], **entry["env"]}}
    return {**entry, **added}


def as_json(section: str, entry: Entry) -> str:
    """A file with this server alone."""
    return json.dumps({section: {NAME: entry}}, indent=2, ensure_ascii=False)


def as_toml(section: str, entry: Entry) -> str:
    """The tables of this server alone."""
    lines = [f"[{section}.{NAME}]"]
    lines += [f"{_key(key)} = {_value(value)}" for key, value in entry.items() if not isinstance(value, Mapping)]
    for key, table in entry.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{section}.{NAME}.{_key(key)}]"]
            lines += [f"{_key(name)} = {_value(value)}" for name, value in table.items()]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _value(key)


def _value(value: Any) -> str:
    """A value in TOML, whose strings, numbers and lists are written as JSON's, but for the character DEL."""
    try:
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    except TypeError:
        raise Refused(f"it lists {NAME} with a value that this command cannot write") from None


def _json(text: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise Refused("a name stands twice in it")
        return found

    try:
        document = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Refused("it is no JSON, or has comments, which would be lost") from None
    if not isinstance(document, dict):
        raise Refused("it holds no list of servers by name")
    return document


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        raise Refused("it is no TOML") from None


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key, {})
    if not isinstance(found, dict):
        raise Refused(f"its {key} is no list of names")
    return found


def _without_tables(text: str, name: str) -> str:
    """The lines outside of the table of that name and the tables in it."""
    unquoted = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]")
    others, inside = [], False
    for line in text.splitlines():
        if header := unquoted.match(line):
            path = header[1].replace('"', "").replace("'", "").replace(" ", "")
            inside = path == name or path.startswith(f"{name}.")
        elif line.lstrip().startswith("[["):
            inside = False
        if not inside:
            others.append(line)
    return "\n".join(others)


LARGEST = 16 << 20  # bytes of a file that is read


def add(client: Client, path: Path, entry: Entry) -> Path | None:
    """Put `entry` into the file; returns the copy of what stood there before, None where nothing did.

    Nothing is written, and `path` itself is returned, where it says that already. Raises `Refused` and `OSError`.
    """
    path = path.resolve()  # a link to a file among others of its kind stays one
    before = _read(path)
    into = into_toml if path.suffix == ".toml" else into_json
    after = into(before or "", client.section, entry)
    if before == after:
        return path
    backup = _copy(path) if before is not None else None
    _replace(path, after)
    return backup


def _read(path: Path) -> str | None:
    if not path.exists():
        return None
    if path.stat().st_size > LARGEST:
        raise Refused("it is too large")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8") from None


def _copy(path: Path) -> Path:
    """Copy the file beside itself, under a name that nothing has."""
    names = (path.with_name(f"{path.name}.bak{number or ''}") for number in count())
    backup = next(name for name in names if not name.exists())
    shutil.copy2(path, backup)
    return backup


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", encoding="utf-8", newline="", dir=path.parent, delete=False) as new:
        new.write(text)
    if path.exists():
        shutil.copymode(path, new.name)
    Path(new.name).replace(path)
