"""What tells a client of this server: `setup`, `mcp-config` and `skill`.

A client lists its servers in a file, of which everything else stays as it is; where it cannot be changed, what to put
there by hand is shown.
"""

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.client_files import Entry, UnreadableConfig, into_json, into_toml
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session, refused
from bio_mcp.errors import InvalidInput
from bio_mcp.settings import PROGRAMS_NEED, Settings
from bio_mcp.skills import FILE, NAMES, Skill, skill

NEXT = (
    "Next: bio-mcp import --sample, for a few hundred papers to try it on",
    "      bio-mcp mcp-config --client claude-code --write, or claude, vscode, cursor, codex, windsurf",
)
DISTRIBUTION = "bio-mcp-literature"
THROWN_AWAY = re.compile(r"[/\\](archive|environments|builds)-v\d")  # folders of uv's cache
VARIABLE = re.compile(r"([A-Z][A-Z0-9_]*)(=.*)?", re.DOTALL)
OF_SERVERS = ("MCP_", "AWS_", "OTEL_")  # settings that a program of one client does not need
OTHERS = re.compile(r"(AWS|HF|PYTHON|SSL|UV)[A-Z0-9_]+|(HTTPS?|ALL|NO)_PROXY")  # variables that libraries read
SETTINGS = {"darwin": "Library/Application Support", "win32": "AppData/Roaming"}  # of programs with windows
LARGEST = 16 << 20  # bytes of a file that is read

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


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
@click.option(
    "--env",
    "variables",
    metavar="NAME[=VALUE]",
    multiple=True,
    help="A setting for the program; without =VALUE as it is here, also a secret. Repeatable.",
)
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

    Settings of this shell that are no secrets, such as BIO_MCP_HOME, go with it. Other servers and everything else in
    the client's file stay as they are, and so do settings and arguments that you added to this one. A file that cannot
    be changed is left alone, and what to put there is shown.
    """
    client = CLIENTS[name]
    if project and not client.of_project:
        raise InvalidInput(f"{client.title} has no servers of a project; leave out --project")
    own, secrets = session.settings.variables()
    carried = {} if url else {each: text for each, text in own.items() if not each.startswith(OF_SERVERS)}
    env = {**carried, **_variables(variables, {**own, **secrets})}
    entry = _entry_of(client, url) if url else {**client.stdio, **program(env, by_uvx=uvx)}
    path = file or file_of(client, project)
    body = {"client": name, "file": str(path), "section": client.section, "entry": entry, "written": write}
    left = sorted(secrets.keys() - env.keys()) if not url else []
    notes = [f"Of this shell: {', '.join(f'{each}={text}' for each, text in carried.items())}."] if carried else []
    notes += [f"Left out, as secrets: {', '.join(left)}. --env {left[0]} writes it."] if left else []
    into = into_toml if path.suffix == ".toml" else into_json
    snippet = into("", client.section, entry)
    try:
        became = put(client, path, entry) if write else ""
    except InvalidInput:
        if not session.as_json:
            terminal.notice(f"Put this into {path} by hand:")
            terminal.say_unwrapped(snippet)
        raise
    if not session.as_json:
        for each in notes:
            terminal.notice(each)
    if write:
        session.answer(body, became)
        return
    if not session.as_json:
        terminal.notice(f"In {path}, of {client.title}; --write puts it there:")
    session.answer(body, lambda _: terminal.say_unwrapped(snippet))


def _entry_of(client: Client, url: str) -> Entry:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise InvalidInput("--http takes the address of an endpoint, such as http://127.0.0.1:3010/mcp")
    if not client.http:
        raise InvalidInput(f"{client.title} is told of an address under Settings, Connectors; its file takes none")
    return {key: value or url for key, value in client.http.items()}


def _variables(given: Sequence[str], here: Mapping[str, str]) -> Entry:
    """What --env says, by name; a name alone has the value that it has `here`."""
    found = [VARIABLE.fullmatch(each) for each in given]
    if None in found:
        raise InvalidInput("--env takes NAME=VALUE, with a name of capital letters, digits and underscores")
    env = {each[1]: each[2] and each[2][1:] for each in found if each}
    known = {*PROGRAMS_NEED, *(each.metadata["env"] for each in fields(Settings))}
    for name, text in env.items():
        if name not in known and not OTHERS.fullmatch(name):
            like = get_close_matches(name, known, 1)
            meant = f"; did you mean {like[0]}?" if like else ". docs/settings.md lists the settings"
            raise InvalidInput(f"bio-mcp reads no variable {name}{meant}")
        if text is None and name not in here:
            raise InvalidInput(f"{name} is not set here: give --env {name}=VALUE")
    return {name: here[name] if text is None else text for name, text in env.items()}


def program(env: Mapping[str, str] = NO_VARIABLES, *, by_uvx: bool = False, environment: str = sys.prefix) -> Entry:
    """How this installation is started: the program itself, or uvx where the environment is one of uvx's, which may be
    gone tomorrow."""
    if by_uvx or THROWN_AWAY.search(environment):
        started = {"command": shutil.which("uvx") or "uvx", "args": [DISTRIBUTION, "stdio"]}
    else:
        beside = next((path for path in Path(sys.executable).parent.glob("bio-mcp*") if path.stem == "bio-mcp"), None)
        started = {"command": str(beside or shutil.which("bio-mcp") or "bio-mcp"), "args": ["stdio"]}
    return {**started, "env": dict(env)} if env else started


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
    except UnreadableConfig as reason:
        raise InvalidInput(f"{path} was left as it is: {reason}") from None
    was = f"; what stood there before is in {backup}" if backup else ""
    return f"Written to {path}{was}.\nStart {client.title} anew, and ask it what bio-mcp can do."


def _read(path: Path) -> str | None:
    if not path.exists():
        return None
    if path.stat().st_size > LARGEST:
        raise UnreadableConfig("it is too large")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableConfig("it is not UTF-8") from None


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", encoding="utf-8", newline="", dir=path.parent, delete=False) as new:
        new.write(text)
    if path.exists():
        shutil.copymode(path, new.name)
    Path(new.name).replace(path)


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
