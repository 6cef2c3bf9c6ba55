"""`bio-mcp mcp-config`: how a client is told of this server, shown or written into the client's own file."""

import re
import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.client_configs.clients import CLIENTS, Client, Command, Entry, file_of
from bio_mcp.doors.client_configs.merging import Refused, as_json, as_toml
from bio_mcp.doors.client_configs.writing import add
from bio_mcp.errors import InvalidInput

DISTRIBUTION = "bio-mcp-literature"
THROWN_AWAY = re.compile(r"[/\\](archive|environments|builds)-v\d")  # folders of uv's cache
VARIABLE = re.compile(r"([A-Z][A-Z0-9_]*)=(.*)", re.DOTALL)


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
def mcp_config_command(
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
    entry = client.entry(_address(url) if url else program(_variables(variables), by_uvx=uvx))
    if entry is None:
        raise InvalidInput(f"{client.title} is told of an address under Settings, Connectors; its file takes none")
    path = file or file_of(client, project)
    if write:
        _write(client, path, entry)
    else:
        terminal.notice(f"In {path}, of {client.title}; --write puts it there:")
        terminal.say_unwrapped((as_toml if path.suffix == ".toml" else as_json)(client.section, entry))


def _write(client: Client, path: Path, entry: Entry) -> None:
    try:
        before = add(client, path, entry)
    except Refused as reason:
        raise InvalidInput(f"{path} was left as it is: {reason}") from None
    except OSError as problem:
        raise InvalidInput(f"{path} was not written: {problem.strerror}") from None
    if before == path.resolve():
        terminal.say(f"{client.title} knows it already: {path}")
        return
    was = f"; what stood there before is in {before}" if before else ""
    terminal.say(f"Written to {path}{was}.", f"Start {client.title} anew, and ask it what bio-mcp can do.")


def program(variables: dict[str, str], *, by_uvx: bool = False, environment: str = sys.prefix) -> Command:
    """The command of this installation: the program itself, or uvx where the environment is one of uvx's, which may be
    gone tomorrow."""
    if by_uvx or THROWN_AWAY.search(environment):
        return Command(shutil.which("uvx") or "uvx", (DISTRIBUTION, "stdio"), variables)
    beside = next((path for path in Path(sys.executable).parent.glob("bio-mcp*") if path.stem == "bio-mcp"), None)
    return Command(str(beside or shutil.which("bio-mcp") or "bio-mcp"), ("stdio",), variables)


def _variables(given: tuple[str, ...]) -> dict[str, str]:
    found = [VARIABLE.fullmatch(each) for each in given]
    if None in found:
        raise InvalidInput("--env takes NAME=VALUE, with a name of capital letters, digits and underscores")
    return {each[1]: each[2] for each in found if each}


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise InvalidInput("--http takes the address of an endpoint, such as http://127.0.0.1:3010/mcp")
    return url
