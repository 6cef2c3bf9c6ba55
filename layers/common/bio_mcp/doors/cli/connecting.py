"""What connects people and programs: `setup`, `mcp-config`, `skill`, `token`, and under `admin` invitations."""

import re
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from bio_mcp.callers import SCOPES, Caller, Scope
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.render import View
from bio_mcp.doors.cli.session import Session, refused
from bio_mcp.doors.client_configs import CLIENTS, Client, Command, Entry, Refused, add, as_json, as_toml, file_of
from bio_mcp.errors import InvalidInput, Misconfigured
from bio_mcp.literature.clock import instant
from bio_mcp.skills import FILE, Skill, all_skills

if TYPE_CHECKING:
    from bio_mcp.doors.auth.sessions import People
    from bio_mcp.ports.state import Authorization

NEXT = (
    "Next: bio-mcp import --sample, for a few hundred papers to try it on",
    "      bio-mcp mcp-config --client claude-code --write, or claude, vscode, cursor, codex, windsurf",
)


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
    if url:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise InvalidInput("--http takes the address of an endpoint, such as http://127.0.0.1:3010/mcp")
    if None in (given := [VARIABLE.fullmatch(each) for each in variables]):
        raise InvalidInput("--env takes NAME=VALUE, with a name of capital letters, digits and underscores")
    entry = client.entry(url or program({each[1]: each[2] for each in given if each}, by_uvx=uvx))
    if entry is None:
        raise InvalidInput(f"{client.title} is told of an address under Settings, Connectors; its file takes none")
    path = file or file_of(client, project)
    body = {"client": name, "file": str(path), "section": client.section, "entry": entry, "written": False}
    if write:
        sentence = _write(client, path, entry)
        session.answer({**body, "written": True}, sentence)
        return
    if not session.as_json:
        terminal.notice(f"In {path}, of {client.title}; --write puts it there:")
    form = as_toml if path.suffix == ".toml" else as_json
    session.answer(body, lambda _: terminal.say_unwrapped(form(client.section, entry)))


def _write(client: Client, path: Path, entry: Entry) -> str:
    """Put the entry into the client's file; say what became of it."""
    try:
        with refused(f"{path} was not written"):
            before = add(client, path, entry)
    except Refused as reason:
        raise InvalidInput(f"{path} was left as it is: {reason}") from None
    if before == path.resolve():
        return f"{client.title} knows it already: {path}"
    was = f"; what stood there before is in {before}" if before else ""
    return f"Written to {path}{was}.\nStart {client.title} anew, and ask it what bio-mcp can do."


def program(variables: dict[str, str], *, by_uvx: bool = False, environment: str = sys.prefix) -> Command:
    """The command of this installation: the program itself, or uvx where the environment is one of uvx's, which may be
    gone tomorrow."""
    if by_uvx or THROWN_AWAY.search(environment):
        return Command(shutil.which("uvx") or "uvx", (DISTRIBUTION, "stdio"), variables)
    beside = next((path for path in Path(sys.executable).parent.glob("bio-mcp*") if path.stem == "bio-mcp"), None)
    return Command(str(beside or shutil.which("bio-mcp") or "bio-mcp"), ("stdio",), variables)


DIRECTORIES: Mapping[str, tuple[str, str]] = {
    "claude": (".claude/skills", ".claude/skills"),
    "claude-code": (".claude/skills", ".claude/skills"),
    "codex": (".agents/skills", ".agents/skills"),
    "cursor": (".cursor/skills", ".cursor/skills"),
    "vscode": (".copilot/skills", ".github/skills"),
    "windsurf": (".codeium/windsurf/skills", ".windsurf/skills"),
}
"""Where each client looks for skills: below the home directory, and below a project's."""


skill_command = click.Group("skill", help="Install the skills: procedures for the agent of your client.")


@skill_command.command("install")
@click.option("--client", type=click.Choice(list(DIRECTORIES)), default="claude", show_default=True, help="For which.")
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
    of_user, of_project = DIRECTORIES[client]
    directory = project / of_project if project else Path.home() / of_user
    became = {each.name: _install(each, directory, force) for each in all_skills()}
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
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_bytes(skill.content)
        new.replace(file)
    return "installed" if there is None else "replaced"


def scopes_of(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Read `--scopes`: words of `SCOPES` with commas between them, each of them once."""
    given = tuple(dict.fromkeys(part for each in (value or "").split(",") if (part := each.strip())))
    if unknown := [each for each in given if each not in SCOPES]:
        raise click.BadParameter(f"there is no scope {unknown[0][:50]!r}; there are {', '.join(SCOPES)}")
    if value is not None and not given:
        raise click.BadParameter(f"name one at least of {', '.join(SCOPES)}")
    return given


@click.command("token")
@click.option("--subject", required=True, help="Whom the token is for: a person or a program.")
@click.option("--days", type=click.IntRange(1, 3650), default=30, show_default=True, help="How long it is valid.")
@click.option("--scopes", callback=scopes_of, help=f"What it may do: of {', '.join(SCOPES)}.  [default: everything]")
@click.option("--scope", "named", multiple=True, help="A scope of another name, as bio:read or bio:write.")
@click.option("--tenant", default="", help="Whose projects it reads and writes.  [default: those of no tenant]")
@answering
def token_command(
    session: Session, subject: str, days: int, scopes: tuple[str, ...], named: tuple[str, ...], tenant: str
) -> None:
    """Make an access token, signed with MCP_AUTH_SECRET_KEY, and print it.

    Whoever has it may call the server until it expires or the secret changes.
    """
    from bio_mcp.doors.auth.access import issue

    token, end = issue(session.settings, subject, timedelta(days=days), datetime.now(UTC), (*scopes, *named), tenant)
    body = {"token": token, "subject": subject, "expires": f"{end:%Y-%m-%dT%H:%M:%SZ}"}
    session.answer(body, lambda answer: click.echo(answer["token"]))


ID = 12  # characters that name a link, session or grant
PEOPLE = View(
    tables={"people": ("subject", "tenant", "scopes")},
    empty="Nobody was invited. `bio-mcp admin invite --subject NAME` makes a link.",
)


@click.command("invite")
@click.option("--subject", required=True, help="Whom to invite: a name or an e-mail address.")
@click.option(
    "--scopes",
    callback=scopes_of,
    default="read,live",
    show_default=True,
    help=f"What they may do, and allow programs to do: of {', '.join(SCOPES)}.",
)
@click.option("--tenant", default="", help="Whose projects they read and write.  [default: those of no tenant]")
@click.option("--days", type=click.IntRange(1, 30), default=7, show_default=True, help="How long the link is valid.")
@answering
def invite_command(session: Session, subject: str, scopes: tuple[Scope, ...], tenant: str, days: int) -> None:
    """Make a link that signs a person in, once, and print it.

    They may then open the console and connect programs such as Claude. Another link signs them in on another device.
    """
    code = _people(session).invite(Caller(subject, frozenset(scopes), tenant), timedelta(days=days))
    settings = session.settings
    parts = urlsplit(settings.resource_url or f"http://{settings.http_host}:{settings.http_port}")
    body = {"link": f"{parts.scheme}://{parts.netloc}/sign-in?code={code}", "subject": subject, "days": days}
    session.answer(body, lambda answer: click.echo(answer["link"]))


@click.command("people")
@click.option("--subject", help="One person alone, with what is open in their name.")
@click.option("--tenant", default="", help="Their tenant.  [default: none]")
@click.option("--end", "ids", multiple=True, help="End one link, session or grant, by its id.")
@click.option("--revoke", is_flag=True, help="End all of the person's links, sessions and grants.")
@answering
def people_command(session: Session, subject: str | None, tenant: str, ids: tuple[str, ...], revoke: bool) -> None:
    """List who was invited, or what one person has open; end some of it with --end, or all with --revoke.

    Access tokens that programs hold already end by themselves within a quarter of an hour.
    """
    people = _people(session)
    if subject is None:
        if revoke or ids:
            raise click.UsageError("--end and --revoke need --subject.")
        everyone = [
            {"subject": each.subject, "tenant": each.tenant, "scopes": [name for name in SCOPES if name in each.scopes]}
            for each in people.everyone()
        ]
        session.answer({"people": everyone}, PEOPLE)
    elif revoke or ids:
        if short := [each for each in ids if len(each) < ID and not revoke]:
            raise click.BadParameter(f"{short[0]!r} is no id; --subject alone lists them", param_hint="--end")
        person = Caller(subject, tenant=tenant)
        ended = people.revoke(person) if revoke else sum(people.end(person, each) for each in ids)
        body = {"subject": subject, "tenant": tenant, "ended": ended}
        session.answer(body, f"{terminal.counted(ended, 'entry')} of {subject} ended.")
    else:
        found = people.open_for(Caller(subject, tenant=tenant))
        opened = {f"{kind}s": list(map(_open, of)) for kind, of in found.items()}
        session.answer({"subject": subject, "tenant": tenant, **opened}, View(empty=f"{subject} has nothing open."))


def _people(session: Session) -> "People":
    from bio_mcp.doors.auth.access import access
    from bio_mcp.doors.auth.sessions import People

    if access(session.settings) is None:
        raise Misconfigured(
            "nobody signs in where there are no access tokens: set MCP_AUTH_SECRET_KEY, and MCP_RESOURCE_URL to the "
            "address that people reach; docs/access.md has an example"
        )
    return People(lambda: session.backends.authorizations)


def _open(authorization: "Authorization") -> dict[str, Any]:
    content = authorization.content
    return {
        "id": authorization.key[:ID],
        **({"client": content["client"]} if "client" in content else {}),
        "scopes": [scope for scope in SCOPES if scope in content["scopes"]],
        "expires": instant(authorization.expires),
    }
