"""`bio-mcp load`: starts bulk loads of a stack on AWS, and says how they go."""

from collections.abc import Mapping
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.errors import NotFound
from bio_mcp.ports.loading import Run
from bio_mcp.syncing.loading.reporting import STAGES, status_of

RUNNING, SUCCEEDED = "running", "succeeded"
SHOWN = 50  # files that failed
DONE = {"fetch": "to fetch from NCBI", "list": "to list", "load": "to load"}


@click.group("load")
def load_command() -> None:
    """Load all of PubMed into a stack on AWS."""


@load_command.command("start")
@click.option("--fetch", is_flag=True, help="Fetch what NCBI has and the bucket has not: baseline and update files.")
@click.option(
    "--again",
    is_flag=True,
    help="Also the files that are loaded, and fetched, already; what the index lacks is written to it.",
)
@answering
def start_command(session: Session, fetch: bool, again: bool) -> None:
    """Load the files in the folder load/files of the stack's bucket, and those of NCBI with --fetch.

    Files that are loaded already are left out, so a load that failed for some is started once more, and one with
    --fetch from day to day follows PubMed.
    """
    name = session.backends.load_runs.start({"fetch": fetch, "again": again})
    session.answer({"load": name}, lambda _: terminal.say(f"The load {name} began; bio-mcp load status follows it."))


@load_command.command("status")
@click.argument("name", required=False)
@answering
def status_command(session: Session, name: str | None) -> None:
    """Say how far the load NAME is, or the latest, and which files failed. Exits 1 where any did."""
    runs = session.backends.load_runs
    run = runs.get(name) if name else runs.latest()
    if run is None:
        raise NotFound("There was no load yet; bio-mcp load start begins one.")
    body = _described(run) | status_of(run.name, session.backends.load_files)
    session.answer(body, render)
    session.code = 0 if run.state in (RUNNING, SUCCEEDED) and not body["failed"] else 1


def _described(run: Run) -> dict[str, Any]:
    ended = run.ended.isoformat() if run.ended else None
    return {"load": run.name, "state": run.state, "began": run.began.isoformat(), "ended": ended}


def render(body: Mapping[str, Any]) -> None:
    """Print a line for each stage that began, then the files that failed."""
    terminal.say(f"{body['load']}: {body['state']}, began {body['began']}")
    for stage in STAGES:
        if stage in body["stages"]:
            terminal.say(f"  {terminal.counted(body['stages'][stage], 'file')} {DONE[stage]}")
    terminal.say(f"  {body['loaded']:,} loaded, {len(body['left']):,} left, {len(body['failed']):,} failed")
    for each in body["failed"][:SHOWN]:
        terminal.fail(f"{each['file']} ({each['stage']}): {each['reason']}")
    if len(body["failed"]) > SHOWN:
        terminal.fail(f"and {len(body['failed']) - SHOWN:,} more; --json has them all")
