"""`bio-mcp token`: issues an access token for a client."""

from datetime import UTC, datetime, timedelta

import click

from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session


@click.command("token")
@click.option("--subject", required=True, help="Whom the token is for: a person or a program.")
@click.option("--days", type=click.IntRange(1, 3650), default=30, show_default=True, help="How long it is valid.")
@click.option("--scope", "scopes", multiple=True, help="What it may do: bio:read, bio:write.  [default: both]")
@answering
def token_command(session: Session, subject: str, days: int, scopes: tuple[str, ...]) -> None:
    """Make an access token, signed with MCP_AUTH_SECRET_KEY, and print it.

    Whoever has it may call the server until it expires or the secret changes.
    """
    from bio_mcp.doors.auth.issuing import issue

    token, end = issue(session.settings, subject, timedelta(days=days), datetime.now(UTC), scopes)
    body = {"token": token, "subject": subject, "expires": f"{end:%Y-%m-%dT%H:%M:%SZ}"}
    session.answer(body, lambda answer: click.echo(answer["token"]))
