"""`bio-mcp sync`, `retractions` and `withdrawals`: follow a query, and what happens to papers already stored."""

from collections.abc import Mapping
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.noticing import check_projects
from bio_mcp.doors.cli.options import answering, arguments_of, options_of, words
from bio_mcp.doors.cli.queries import cancel_sync
from bio_mcp.doors.cli.session import Session
from bio_mcp.progress import Progress
from bio_mcp.syncing import withdrawals
from bio_mcp.syncing.retractions import QUERY_KEY, TERM
from bio_mcp.tools.sync_delta import sync_delta

OPTIONS = {
    "overlap_days": "days before the watermark that are asked for again; PubMed adds some records late",
    "max_records": "confirms a new sync of so many records, which is refused beyond BIO_MCP_SYNC_MAX_RECORDS",
}
STATES = {
    "complete": ("green", "complete"),
    "incomplete": ("yellow", "incomplete: the watermark stays where it was; run the same command again"),
    "running": ("yellow", "another process is running this sync; nothing was started"),
    "cancelled": ("yellow", "cancelled; the watermark stays where it was"),
}


@click.command("sync")
@click.argument("query_key")
@words("term", unless="stop")
@click.option("--stop", is_flag=True, is_eager=True, help="Cancel the running or queued sync of QUERY_KEY instead.")
@options_of(sync_delta, without=("job_id",), helps=OPTIONS)
@answering
def sync_command(session: Session, /, stop: bool, **given: Any) -> None:
    """Bring the corpus up to date with every PubMed record that matches TERM.

    QUERY_KEY names the query: the next sync of the same key asks only for records added or revised since. It may be
    stopped at any time and continues where it stopped.
    """
    if stop:
        cancel_sync(session, given["query_key"])
        return
    _sync(session, arguments_of(sync_delta, given))


@click.command("retractions")
@click.option("--projects", is_flag=True, help="Ask Crossref instead, about documents of projects without a PMID.")
@click.option(
    "--retraction-watch",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Ask nobody: take notices about such documents from Retraction Watch's CSV.",
)
@answering
def retractions_command(session: Session, /, projects: bool, retraction_watch: str | None) -> None:
    """Flag papers that have since been retracted or have an expression of concern, wherever they came from.

    A sync notices this only for papers that its term still finds. This asks PubMed for every paper that was retracted
    or has an expression of concern, and updates those in the corpus. It adds none. Once a day is plenty.
    """
    if projects or retraction_watch:
        check_projects(session, retraction_watch)
    else:
        _sync(session, {"query_key": QUERY_KEY, "term": TERM, "known_only": True})


@click.command("withdrawals")
@answering
def withdrawals_command(session: Session, /) -> None:
    """Delete papers that PubMed has withdrawn, wherever they came from, once two checks on different days agree.

    No search reports withdrawals, so this asks PubMed for every paper in the corpus, 199 at a time. Once a week, on two
    days, is plenty.
    """
    _sync(session, {"query_key": withdrawals.QUERY_KEY, "term": withdrawals.TERM})


def _sync(session: Session, arguments: Mapping[str, Any]) -> None:
    try:
        with terminal.progress("syncing") as update:
            body = session.ask_to_the_end(sync_delta, arguments, lambda: _counted(update))
    except KeyboardInterrupt:
        terminal.warn("stopped; what was fetched is in the corpus. Run the same command again to continue.")
        raise
    session.answer(body, render)
    session.code = 0 if body["state"] == "complete" else 1


def _counted(update: Progress) -> Progress:
    rate = terminal.Rate()

    def progress(done: int, total: int | None, _job: str) -> None:
        of = f"/{total:,}" if total else ""
        update(done, total or None, f"{done:,}{of} records, {rate(done):,.0f}/s")

    return progress


def render(body: Mapping[str, Any]) -> None:
    """Print the summary and every warning."""
    style, state = STATES[body["state"]]
    counts = ("inserted", "updated", "skipped", "failed")
    terminal.show(
        terminal.pairs(
            [
                ("state", terminal.styled(state, style)),
                *((name, f"{body[name]:,}") for name in counts),
                ("processed", f"{body['pmids_processed']:,} of {body['expected']:,}"),
                ("newest", body["max_edat_seen"] or "–"),
                ("job", body["job_id"]),
            ]
        )
    )
    for warning in body["warnings"]:
        terminal.warn(warning)
