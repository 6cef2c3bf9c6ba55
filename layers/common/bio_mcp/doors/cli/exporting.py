"""`bio-mcp export`: papers as a file for a reference manager, a screening tool or a spreadsheet."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of
from bio_mcp.doors.cli.session import Session
from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.exporting.formats import FORMATS, NAMES
from bio_mcp.exporting.run import finished
from bio_mcp.progress import Progress
from bio_mcp.tools.exports import export_papers

STATES = {
    "incomplete": "incomplete; run the same command again",
    "running": "another process is writing this export; nothing was started",
    "cancelled": "cancelled",
}
SUFFIXES = {each.suffix: name for name, each in FORMATS.items()}


@click.command("export")
@click.argument("query", nargs=-1)
@click.option("--pmid", "pmids", multiple=True, metavar="PMID", help="This paper; repeat for more.")
@click.option("--query-key", metavar="KEY", help="All papers that this followed query found.")
@click.option("--project", metavar="ID", help="The documents of this project.")
@click.option("--limit", type=click.INT, metavar="N", help="Hits of QUERY, at most 200. [default: 200]")
@click.option("--format", type=click.Choice(NAMES), help="What to write. [default: by the ending of FILE, or ris]")
@click.option("-o", "--output", metavar="FILE", help="Where to write it, - for standard output. [default: a new name]")
@answering
def export_command(session: Session, /, output: str | None, **given: Any) -> None:
    """Write papers to a file: hits of QUERY in the corpus, all of a followed query, those of --pmid, or a project's.

    The file has abstracts, MeSH headings and notices of retractions. Zotero, EndNote and Mendeley read ris, nbib and
    bibtex; ASReview and Rayyan read ris and csv.
    """
    given["query"] = " ".join(given["query"]) or None
    given["format"] = given["format"] or SUFFIXES.get(Path(output or "").suffix, "ris")
    with terminal.progress("exporting") as update:
        body = session.ask_to_the_end(export_papers, arguments_of(export_papers, given), lambda: _counted(update))
    if body["state"] != "complete":
        session.code = 1
        session.answer(body, render)
        return
    written = _write(session, body, output or body["file"]["name"])
    if written:
        session.answer({**body, "written": written}, render)


def _counted(update: Progress) -> Progress:
    def progress(done: int, total: int | None, name: str) -> None:
        update(done, total, name)

    return progress


def _write(session: Session, body: Mapping[str, Any], output: str) -> str | None:
    """Copy the file to where it was asked for; returns its path, None for standard output."""
    blobs = session.own.blobs
    try:
        _, cursor = finished(body["job_id"], session.own)
        if output == "-":
            terminal.pipe(blobs.get(part).decode() for part in cursor.parts)
            return None
        pieces = blobs.stream(cursor.file)
    except NotFound:
        raise InvalidInput("the exported file is gone; export again") from None
    path = Path(output)
    try:
        with path.open("wb") as file:
            file.writelines(pieces)
    except OSError as error:
        raise InvalidInput(f"The file cannot be written: {error.strerror}.") from None
    return str(path)


def render(body: Mapping[str, Any]) -> None:
    """Print what was written, and every warning."""
    if "written" in body:
        size = f"{body['file']['bytes']:,} bytes"
        terminal.say(f"{body['papers']:,} papers, {size}, written to {body['written']}")
    else:
        terminal.say(STATES[body["state"]])
    if body["absent"]:
        terminal.warn(f"{body['absent']:,} papers are in no source: {', '.join(body['missing'][:10])}")
    for warning in body["warnings"]:
        terminal.warn(warning)
