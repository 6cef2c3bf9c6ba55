"""`bio-mcp token`: issues an access token for a client."""

from datetime import UTC, datetime, timedelta

import click

from bio_mcp.callers import SCOPES
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session


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
    from bio_mcp.doors.auth.issuing import issue

    token, end = issue(session.settings, subject, timedelta(days=days), datetime.now(UTC), (*scopes, *named), tenant)
    body = {"token": token, "subject": subject, "expires": f"{end:%Y-%m-%dT%H:%M:%SZ}"}
    session.answer(body, lambda answer: click.echo(answer["token"]))
