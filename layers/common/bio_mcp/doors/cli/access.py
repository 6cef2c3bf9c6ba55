"""Who may call: access tokens for programs, and under `admin` links that sign people in."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from bio_mcp.callers import SCOPES, Caller, Scope
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.render import View
from bio_mcp.doors.cli.session import Session
from bio_mcp.errors import Misconfigured
from bio_mcp.literature.clock import instant
from bio_mcp.settings import words_of

if TYPE_CHECKING:
    from bio_mcp.doors.auth.access import Access
    from bio_mcp.doors.auth.sessions import People

ID = 12  # characters that name a link, session or grant
PEOPLE = View(
    tables={"people": ("subject", "tenant", "scopes")},
    empty="Nobody was invited, and nobody has a token. `bio-mcp admin invite --subject NAME` makes a link.",
)


def scopes_of(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Read `--scopes`: words of `SCOPES` with commas between them, each of them once."""
    given = tuple(dict.fromkeys(words_of(value or "")))
    if unknown := [each for each in given if each not in SCOPES]:
        raise click.BadParameter(f"there is no scope {unknown[0][:50]!r}; there are {', '.join(SCOPES)}")
    if value is not None and not given:
        raise click.BadParameter(f"name one at least of {', '.join(SCOPES)}")
    return given


@click.command("token")
@click.option("--subject", required=True, help="Whom the token is for: a person or a program.")
@click.option("--days", type=click.IntRange(1, 365), default=30, show_default=True, help="How long it is valid.")
@click.option("--scopes", callback=scopes_of, help=f"What it may do: of {', '.join(SCOPES)}.  [default: everything]")
@click.option("--scope", "named", multiple=True, help="A scope of another name, as bio:read or bio:write.")
@click.option("--tenant", default="", help="Whose projects it reads and writes.  [default: those of no tenant]")
@answering
def token_command(
    session: Session, subject: str, days: int, scopes: tuple[str, ...], named: tuple[str, ...], tenant: str
) -> None:
    """Make an access token, signed with MCP_AUTH_SECRET_KEY, and print it.

    Whoever has it may call the server until it expires, the secret changes or somebody ends it, on the page People or
    by `bio-mcp admin people`.
    """
    settings, access = session.settings, _access(session)
    given = frozenset((*scopes, *named)) or {settings.auth_read_scope, settings.auth_write_scope}
    holder = Caller(subject, frozenset(given), tenant)
    token, end = _people(session).give_token(access, holder, "", timedelta(days=days))
    body = {"token": token, "subject": subject, "expires": instant(end)}
    session.answer(body, lambda answer: click.echo(answer["token"]))


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
    from bio_mcp.doors.auth.sessions import sign_in_link

    code = _people(session).invite(Caller(subject, frozenset(scopes), tenant), timedelta(days=days))
    settings = session.settings
    endpoint = settings.resource_url or f"http://{settings.http_host}:{settings.http_port}"
    body = {"link": sign_in_link(endpoint, code), "subject": subject, "days": days}
    session.answer(body, lambda answer: click.echo(answer["link"]))


@click.command("people")
@click.option("--subject", help="One person alone, with what is open in their name.")
@click.option("--tenant", default="", help="Their tenant.  [default: none]")
@click.option("--end", "ids", multiple=True, help="End one link, session, grant or token, by its id.")
@click.option("--revoke", is_flag=True, help="End all of the person's links, sessions, grants and tokens.")
@answering
def people_command(session: Session, subject: str | None, tenant: str, ids: tuple[str, ...], revoke: bool) -> None:
    """List who was invited or has a token, or what one person has open; end some with --end, or all with --revoke.

    Access tokens that connected programs hold already end by themselves within a quarter of an hour.
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
        session.answer(body, f"Ended of {subject}: {ended:,}.")
    else:
        opened: dict[str, list[dict[str, Any]]] = {}
        for kind, found in people.open_for(Caller(subject, tenant=tenant)).items():
            opened[f"{kind}s"] = [
                {
                    "id": each.key[:ID],
                    **{name: given for name in ("client", "name") if (given := each.content.get(name))},
                    "scopes": [scope for scope in SCOPES if scope in each.content["scopes"]],
                    "expires": instant(each.expires),
                }
                for each in found
            ]
        session.answer({"subject": subject, "tenant": tenant, **opened}, View(empty=f"{subject} has nothing open."))


@click.command("client")
@click.option("--name", required=True, help="What the program is called, as Claude; its id and secret follow from it.")
@answering
def client_command(session: Session, name: str) -> None:
    """Print the id and the secret of a program that presents assertions of the identity provider (MCP_IDP_ISSUER).

    The provider is told the id, the program both. They follow from MCP_AUTH_SECRET_KEY, and end with it.
    """
    from bio_mcp.doors.auth.clients import managed

    allowed = _access(session)
    if not allowed.issues_tokens:
        raise Misconfigured("there is no authorization server here: set MCP_AUTH_SECRET_KEY and MCP_RESOURCE_URL")
    made = managed(name, allowed.tokens.keys.get())
    body = {"client_id": made.client_id, "client_secret": made.client_secret, "issuer": allowed.issuer}
    session.answer(body, lambda answer: click.echo("\n".join(f"{key}  {value}" for key, value in answer.items())))


def _people(session: Session) -> "People":
    from bio_mcp.doors.auth.sessions import People

    _access(session)
    return People(lambda: session.backends.authorizations)


def _access(session: Session) -> "Access":
    from bio_mcp.doors.auth.access import access

    if (allowed := access(session.settings)) is None:
        raise Misconfigured(
            "there are no access tokens here, and nobody signs in: set MCP_AUTH_SECRET_KEY, and MCP_RESOURCE_URL to "
            "the address that people reach; docs/access.md has an example"
        )
    return allowed
