"""`bio-mcp invite` and `bio-mcp people`: who may sign in, and what is open in their name."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from bio_mcp.callers import SCOPES, Caller, Scope
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.doors.cli.token import scopes_of
from bio_mcp.errors import Misconfigured
from bio_mcp.literature.clock import instant
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.doors.auth.people import People
    from bio_mcp.ports.authorizations import Authorization

ID = 12  # characters that name a link, session or grant
OF_WHOM = "Their tenant.  [default: none]"


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
    body = {"link": f"{_base(session.settings)}/sign-in?code={code}", "subject": subject, "days": days}
    session.answer(body, lambda answer: click.echo(answer["link"]))


@click.command("people")
@click.option("--subject", help="One person alone, with what is open in their name.")
@click.option("--tenant", default="", help=OF_WHOM)
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
        everyone = [_shown(each) for each in people.everyone()]
        session.answer({"people": everyone}, lambda answer: _list(answer["people"]))
    elif revoke or ids:
        person = Caller(subject, tenant=tenant)
        ended = people.revoke(person) if revoke else sum(people.end(person, each) for each in _whole(ids))
        body = {"subject": subject, "tenant": tenant, "ended": ended}
        session.answer(body, lambda _: terminal.say(f"{terminal.counted(ended, 'entry')} of {subject} ended."))
    else:
        found = people.open_for(Caller(subject, tenant=tenant))
        body = {
            "subject": subject,
            "tenant": tenant,
            **{f"{kind}s": list(map(_open, of)) for kind, of in found.items()},
        }
        session.answer(body, _show)


def _people(session: Session) -> "People":
    from bio_mcp.doors.auth.access import access
    from bio_mcp.doors.auth.people import People

    if access(session.settings) is None:
        raise Misconfigured(
            "nobody signs in where there are no access tokens: set MCP_AUTH_SECRET_KEY, and MCP_RESOURCE_URL to the "
            "address that people reach; docs/access.md has an example"
        )
    return People(lambda: session.backends.authorizations)


def _base(settings: Settings) -> str:
    """Where people reach the server: at its public address, or else where it serves this machine."""
    parts = urlsplit(settings.resource_url or f"http://{settings.http_host}:{settings.http_port}")
    return f"{parts.scheme}://{parts.netloc}"


def _whole(ids: Sequence[str]) -> Sequence[str]:
    if short := [each for each in ids if len(each) < ID]:
        raise click.BadParameter(f"{short[0]!r} is no id; --subject alone lists them", param_hint="--end")
    return ids


def _shown(person: Caller) -> dict[str, Any]:
    scopes = [scope for scope in SCOPES if scope in person.scopes]
    return {"subject": person.subject, "tenant": person.tenant, "scopes": scopes}


def _open(authorization: "Authorization") -> dict[str, Any]:
    content = authorization.content
    scopes = [scope for scope in SCOPES if scope in content["scopes"]]
    client = {"client": content["client"]} if "client" in content else {}
    return {"id": authorization.key[:ID], **client, "scopes": scopes, "expires": instant(authorization.expires)}


def _list(people: Sequence[Mapping[str, Any]]) -> None:
    rows = [(each["subject"], each["tenant"] or "–", ", ".join(each["scopes"])) for each in people]
    if rows:
        terminal.show(terminal.table(("subject", "tenant", "scopes"), rows))
    else:
        terminal.say("Nobody was invited. `bio-mcp invite --subject NAME` makes a link.")


def _show(body: Mapping[str, Any]) -> None:
    rows = [
        (each["id"], what, each.get("client", "–"), ", ".join(each["scopes"]), each["expires"])
        for what in ("invitation", "session", "grant")
        for each in body[f"{what}s"]
    ]
    if rows:
        terminal.show(terminal.table(("id", "what", "program", "scopes", "ends"), rows))
    else:
        terminal.say(f"{body['subject']} has nothing open.")
