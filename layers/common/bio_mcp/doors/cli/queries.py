"""`bio-mcp queries`: lists the followed queries, and ends them."""

from collections.abc import Iterable, Mapping
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.syncing.stopping import remove, stop
from bio_mcp.tools.checkpoint import list_queries


@click.group("queries")
def queries_command() -> None:
    """List the followed queries; stop or remove one."""


@queries_command.command("list")
@click.argument("query_key", required=False)
@answering
def list_command(session: Session, query_key: str | None) -> None:
    """List every query, or QUERY_KEY alone: term, how far it is synced, and how its last sync went."""
    arguments = {"query_key": query_key} if query_key else {}
    session.answer(session.ask_all(list_queries, arguments, "queries"), render)


@queries_command.command("stop")
@click.argument("query_key")
@answering
def stop_command(session: Session, query_key: str) -> None:
    """Cancel the running or queued sync of QUERY_KEY.

    What it has stored stays; the next sync starts again from the watermark.
    """
    cancel_sync(session, query_key)


def cancel_sync(session: Session, query_key: str) -> None:
    """Cancel the unfinished syncs of a query, and print them."""
    jobs = [job.job_id for job in stop(query_key, session.backends)]
    what = ", ".join(jobs)
    message = (
        f"{what} is cancelled; if it runs, it ends within a minute." if jobs else f"No sync of {query_key} to stop."
    )
    session.answer({"query_key": query_key, "cancelled": jobs}, lambda _: terminal.say(message))


@queries_command.command("remove")
@click.argument("query_key")
@click.option("--yes", is_flag=True, help="Remove it; without this, only print what would be removed.")
@answering
def remove_command(session: Session, query_key: str, yes: bool) -> None:
    """Remove QUERY_KEY: its watermarks and its syncs.

    The papers stay, as other queries may have added them too. The next sync of the key reads everything again.
    """
    checkpoints = remove(query_key, session.backends) if yes else session.backends.checkpoints.all(query_key)
    terms = [each.term for each in checkpoints]
    body = {"query_key": query_key, "terms": terms, "removed": yes}
    session.answer(body, lambda _: terminal.say(_removal(query_key, terms, yes)))
    session.code = 0 if yes or not terms else 1


def _removal(query_key: str, terms: Iterable[str | None], done: bool) -> str:
    named = "; ".join(term or "no term" for term in terms)
    if not named:
        return f"{query_key} is not followed."
    if done:
        return f"{query_key} ({named}) is removed; its papers stay."
    return f"{query_key} ({named}) would be removed, and its papers would stay. Give --yes to do it."


def render(body: Mapping[str, Any]) -> None:
    """Print a row per query, then the warnings of the last syncs."""
    rows = [
        (each["query_key"], each["term"] or "–", each["settled_to"] or "–", *_sync(each)) for each in body["queries"]
    ]
    if rows:
        terminal.show(terminal.table(("query", "term", "settled to", "last sync", "records"), rows))
    else:
        terminal.say("No query is followed. `bio-mcp sync QUERY_KEY TERM` begins one.")
    if body["papers"] is not None:
        terminal.say(f"{terminal.counted(body['papers'], 'paper')} in the corpus.")
    for each in body["queries"]:
        last = each["last_sync"] or {"warnings": [], "error": None}
        for warning in (*last["warnings"], *filter(None, [last["error"]])):
            terminal.warn(f"{each['query_key']}: {warning}")


def _sync(query: Mapping[str, Any]) -> tuple[str, str]:
    last = query["last_sync"]
    if last is None:
        return "–", "–"
    return f"{last['state']}, {last['updated_at']}", f"{last['processed']:,} of {last['expected']:,}"
