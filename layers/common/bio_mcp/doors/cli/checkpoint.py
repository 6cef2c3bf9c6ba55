"""`bio-mcp checkpoint`: how far a query has been synced."""

from collections.abc import Mapping
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.tools.checkpoint import get_checkpoint, set_checkpoint


@click.group("checkpoint")
def checkpoint_command() -> None:
    """Show or move the watermark of a query."""


@checkpoint_command.command("get")
@click.argument("query_key")
@answering
def get_command(session: Session, query_key: str) -> None:
    """Show how far QUERY_KEY has been synced."""
    session.answer(session.ask(get_checkpoint, {"query_key": query_key}), render)


@checkpoint_command.command("set")
@click.argument("query_key")
@click.argument("last_edat", metavar="TIME")
@answering
def set_command(session: Session, query_key: str, last_edat: str) -> None:
    """Move the watermark of QUERY_KEY to TIME (ISO 8601, UTC), backwards too: the next sync reads everything since
    then again."""
    body = session.ask(set_checkpoint, {"query_key": query_key, "last_edat": last_edat})
    session.answer(body, lambda _: terminal.say(f"{query_key} is now at {last_edat}."))


def render(body: Mapping[str, Any]) -> None:
    """Print how far the query is synced, and the warnings."""
    if body["last_edat"]:
        terminal.say(f"{body['query_key']} is synced up to {body['last_edat']}.")
    else:
        terminal.say(f"{body['query_key']} has never been synced.")
    for warning in body["warnings"]:
        terminal.warn(warning)
