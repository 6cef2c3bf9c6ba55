"""What tells a client of this server: `setup`, `mcp-config` and `skill`.

A client lists its servers in a file, of which everything else stays as it is. What cannot be changed without losing
something (comments in JSON, names that stand twice, forms of TOML that are not understood) is refused.
"""

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import urlsplit

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session, refused
from bio_mcp.errors import InvalidInput
from bio_mcp.skills import FILE, NAMES, Skill, skill

NAME = "bio-mcp"
NEXT = (
    "Next: bio-mcp import --sample, for a few hundred papers to try it on",
    "      bio-mcp mcp-config --client claude-code --write, or claude, vscode, cursor, codex, windsurf",
)
DISTRIBUTION = "bio-mcp-literature"
THROWN_AWAY = re.compile(r"[/\\](archive|environments|builds)-v\d")  # folders of uv's cache
VARIABLE = re.compile(r"([A-Z][A-Z0-9_]*)=(.*)", re.DOTALL)
SETTINGS = {"darwin": "Library/Application Support", "win32": "AppData/Roaming"}  # of programs with windows
HOW_IT_STARTS = {"type", "command", "args", "url", "serverUrl", "startup_timeout_sec"}
LARGEST = 16 << 20  # bytes of a file that is read

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Client:
    """A client. Its files are named below a home directory, where {settings} stands for that of programs with windows,
    and below a project, "" where it reads none. `section` is the key of its servers.

    `stdio` stands in an entry beside the command; `http` is the entry of an address, which has the place of "": none
    where its file takes no address. `skills` are the folders of skills: a user's, and a project's.
    """

    title: str
    section: str
    of_user: str
    of_project: str
    skills: tuple[str, str]
    stdio: Mapping[str, Any] = field(default_factory=dict)
    http: Mapping[str, str] = field(default_factory=dict)


TYPED, BY_TYPE = {"type": "stdio"}, {"type": "http", "url": ""}
OF_CLAUDE = (".claude/skills", ".claude/skills")
OF_CURSOR = (".cursor/skills", ".cursor/skills")
OF_CODEX = (".agents/skills", ".agents/skills")
OF_VS_CODE = (".copilot/skills", ".github/skills")
OF_WINDSURF = (".codeium/windsurf/skills", ".windsurf/skills")
CLAUDE_FILE, VS_CODE_FILE = "{settings}/Claude/claude_desktop_config.json", "{settings}/Code/User/mcp.json"
WINDSURF_FILE, CODEX_FILE, CURSOR_FILE = ".codeium/windsurf/mcp_config.json", ".codex/config.toml", ".cursor/mcp.json"
CODEX_WAITS = {"startup_timeout_sec": 120}  # of ten seconds, in which uvx has not installed anything yet
CLIENTS = {
    "claude": Client("Claude Desktop", "mcpServers", CLAUDE_FILE, "", OF_CLAUDE),
    "claude-code": Client("Claude Code", "mcpServers", ".claude.json", ".mcp.json", OF_CLAUDE, TYPED, BY_TYPE),
    "vscode": Client("VS Code", "servers", VS_CODE_FILE, ".vscode/mcp.json", OF_VS_CODE, TYPED, BY_TYPE),
    "cursor": Client("Cursor", "mcpServers", CURSOR_FILE, CURSOR_FILE, OF_CURSOR, http={"url": ""}),
    "codex": Client("Codex", "mcp_servers", CODEX_FILE, CODEX_FILE, OF_CODEX, CODEX_WAITS, {"url": ""}),
    "windsurf": Client("Windsurf", "mcpServers", WINDSURF_FILE, "", OF_WINDSURF, http={"serverUrl": ""}),
}


@click.command("setup")
@answering
def setup_command(session: Session) -> None:
    """Check the embedding model, and say where it is and what comes next.

    A model comes with the package: nothing is downloaded. Its files must be those that were released, and it must make
    the vectors that it made where it was released.
    """
    from bio_mcp.wiring.models import checked

    found = checked(session.settings)
    session.answer({"model": found}, "\n".join([found, *NEXT]))


@click.command("mcp-config")
@click.option("--client", "name", type=click.Choice(list(CLIENTS)), required=True, help="The client.")
@click.option("--write", is_flag=True, help="Put it into the client's file, of which a copy is left beside it.")
@click.option("--http", "url", metavar="URL", help="The address of an endpoint, in place of a program on this machine.")
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder of a project that alone gets it, for claude-code, vscode, cursor and codex.",
)
@click.option("--file", type=click.Path(dir_okay=False, path_type=Path), help="The client's file, if it is elsewhere.")
@click.option("--env", "variables", metavar="NAME=VALUE", multiple=True, help="A setting for the program; repeatable.")
@click.option("--uvx", is_flag=True, help="Let uvx run the program, as it does where uvx runs this.")
@answering
def mcp_config_command(
    session: Session,
    name: str,
    write: bool,
    url: str | None,
    project: Path | None,
    file: Path | None,
    variables: tuple[str, ...],
    uvx: bool,
) -> None:
    """Show how a client is told of this server, or tell it.

    Other servers and everything else in the client's file stay as they are, and so do settings that you added to this
    one. A file that cannot be read is left alone.
    """
    client = CLIENTS[name]
    if project and not client.of_project:
        raise InvalidInput(f"{client.title} has no servers of a project; leave out --project")
    entry = _entry_of(client, url) if url else {**client.stdio, **program(variables, by_uvx=uvx)}
    path = file or file_of(client, project)
    body = {"client": name, "file": str(path), "section": client.section, "entry": entry, "written": write}
    if write:
        session.answer(body, put(client, path, entry))
        return
    if not session.as_json:
        terminal.notice(f"In {path}, of {client.title}; --write puts it there:")
    into = into_toml if path.suffix == ".toml" else into_json
    session.answer(body, lambda _: terminal.say_unwrapped(into("", client.section, entry)))


def _entry_of(client: Client, url: str) -> Entry:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise InvalidInput("--http takes the address of an endpoint, such as http://127.0.0.1:3010/mcp")
    if not client.http:
        raise InvalidInput(f"{client.title} is told of an address under Settings, Connectors; its file takes none")
    return {key: value or url for key, value in client.http.items()}


def program(variables: tuple[str, ...] = (), *, by_uvx: bool = False, environment: str = sys.prefix) -> Entry:
    """How this installation is started: the program itself, or uvx where the environment is one of uvx's, which may be
    gone tomorrow."""
    if None in (given := [VARIABLE.fullmatch(each) for each in variables]):
        raise InvalidInput("--env takes NAME=VALUE, with a name of capital letters, digits and underscores")
    if by_uvx or THROWN_AWAY.search(environment):
        started = {"command": shutil.which("uvx") or "uvx", "args": [DISTRIBUTION, "stdio"]}
    else:
        beside = next((path for path in Path(sys.executable).parent.glob("bio-mcp*") if path.stem == "bio-mcp"), None)
        started = {"command": str(beside or shutil.which("bio-mcp") or "bio-mcp"), "args": ["stdio"]}
    return {**started, "env": {each[1]: each[2] for each in given if each}} if variables else started


def file_of(
    client: Client, project: Path | None = None, home: Path | None = None, platform: str = sys.platform
) -> Path:
    """The file that a client reads: in a project, else the user's own."""
    if project:
        return project / client.of_project
    return (home or Path.home()) / client.of_user.format(settings=SETTINGS.get(platform, ".config"))


def put(client: Client, path: Path, entry: Entry) -> str:
    """Put the entry into the client's file, whole or not at all, with a copy of what stood there before beside it; say
    what became of it."""
    real = path.resolve()  # a link to a file among others of its kind stays one
    try:
        with refused(f"{path} was not written"):
            before = _read(real)
            after = (into_toml if real.suffix == ".toml" else into_json)(before or "", client.section, entry)
            if before == after:
                return f"{client.title} knows it already: {real}"
            backup = None
            if before is not None:
                names = (real.with_name(f"{real.name}.bak{number or ''}") for number in count())
                backup = next(name for name in names if not name.exists())
                shutil.copy2(real, backup)
            _replace(real, after)
    except _Unreadable as reason:
        raise InvalidInput(f"{path} was left as it is: {reason}") from None
    was = f"; what stood there before is in {backup}" if backup else ""
    return f"Written to {path}{was}.\nStart {client.title} anew, and ask it what bio-mcp can do."


class _Unreadable(Exception):
    """The file cannot be changed without losing something: the message says why."""


def _read(path: Path) -> str | None:
    if not path.exists():
        return None
    if path.stat().st_size > LARGEST:
        raise _Unreadable("it is too large")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise _Unreadable("it is not UTF-8") from None


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", encoding="utf-8", newline="", dir=path.parent, delete=False) as new:
        new.write(text)
    if path.exists():
        shutil.copymode(path, new.name)
    Path(new.name).replace(path)


def into_json(text: str, section: str, entry: Entry) -> str:
    """The file's text with `entry` under the server's name in `section`."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise _Unreadable("a name stands twice in it")
        return found

    try:
        document = json.loads(text.removeprefix("\ufeff").strip() or "{}", object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise _Unreadable("it is no JSON, or has comments, which would be lost") from None
    if not isinstance(document, dict):
        raise _Unreadable("it holds no list of servers by name")
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
    name = f"{section}.{NAME}"
    tables: dict[str, Mapping[str, Any]] = {name: {k: v for k, v in wanted.items() if not isinstance(v, Mapping)}}
    tables |= {f"{name}.{_key(key)}": value for key, value in wanted.items() if isinstance(value, Mapping)}
    parts = [
        "\n".join([f"[{header}]", *(f"{_key(key)} = {_value(value)}" for key, value in table.items())])
        for header, table in tables.items()
    ]
    made = "\n\n".join(filter(None, [_without_tables(text, name).rstrip("\n"), *parts])) + "\n"
    if _toml(made) != {**before, section: {**servers, NAME: wanted}}:
        raise _Unreadable(f"it lists {NAME} in a form that this command cannot change; remove that first")
    return made


def merged(old: Mapping[str, Any], entry: Entry) -> Entry:
    """The new entry, with what somebody added to the old one: variables, and what a client stores there."""
    added = {key: value for key, value in old.items() if key not in HOW_IT_STARTS and key not in entry}
    if "command" not in entry:
        added.pop("env", None)  # an endpoint takes no variables
    elif isinstance(old.get("env"), Mapping) and "env" in entry:
        entry = {**entry, "env": {**old["env"], **entry["env"]}}
    return {**entry, **added}


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key, {})
    if not isinstance(found, dict):
        raise _Unreadable(f"its {key} is no list of names")
    return found


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        raise _Unreadable("it is no TOML") from None


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _value(key)


def _value(value: Any) -> str:
    """A value in TOML, whose strings, numbers and lists are written as JSON's, but for the character DEL."""
    try:
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    except TypeError:
        raise _Unreadable(f"it lists {NAME} with a value that this command cannot write") from None


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


skill_command = click.Group("skill", help="Install the skills: procedures for the agent of your client.")


@skill_command.command("install")
@click.option("--client", type=click.Choice(list(CLIENTS)), default="claude", show_default=True, help="For which.")
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="For the project in this directory alone.  [default: for you, in all projects]",
)
@click.option("--force", is_flag=True, help="Replace skills of the same name that differ.")
@answering
def install_command(session: Session, client: str, project: Path | None, force: bool) -> None:
    """Copy the skills to where the client finds them when it starts.

    A skill of the same name that differs, as one that you changed, is left as it is, and the exit code is 1.
    """
    of_user, of_project = CLIENTS[client].skills
    directory = project / of_project if project else Path.home() / of_user
    became = {each: _install(skill(each), directory, force) for each in NAMES}
    rows = [f"{name}: {what}" for name, what in became.items()]
    found = f"In {directory}; a client that runs finds them when it is started again."
    session.answer({"directory": str(directory), "skills": became}, "\n".join([*rows, found]))
    if "different" in became.values():
        session.code = 1
        terminal.warn("What is different was left as it is; --force replaces it.")


def _install(skill: Skill, directory: Path, force: bool) -> str:
    """Put a skill into a directory of skills; say what became of it: installed, replaced, unchanged or different."""
    file = directory / skill.name / FILE
    with refused(f"{file} cannot be written"):
        there = file.read_bytes() if file.exists() else None
        if there == skill.content:
            return "unchanged"
        if there is not None and not force:
            return "different"
        _replace(file, skill.content.decode())
    return "installed" if there is None else "replaced"
