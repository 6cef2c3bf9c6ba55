"""`bio-mcp ingest`: documents into a project, to the end."""

from collections.abc import Mapping
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.progress import Progress
from bio_mcp.tools.ingest import ingest_from_source

STATES = {
    "complete": ("green", "complete"),
    "incomplete": ("yellow", "incomplete; run the same command again"),
    "running": ("yellow", "another process is ingesting this source; nothing was started"),
    "cancelled": ("yellow", "cancelled; what was read stays in the project"),
}


@click.command("ingest")
@click.argument("project", metavar="ID")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "--ocr-languages", metavar="CODES", default="", help="Languages of scans, such as eng,deu, the likeliest first."
)
@click.option("--references", metavar="FILE", help="CSL-JSON file that describes the works, as Zotero exports it.")
@click.option("--force-rebuild", is_flag=True, help="Read everything again, and embed it by the configured model.")
@click.option("--tenant", default="", help="The tenant whose project ID is.")
@answering
def ingest_command(
    session: Session,
    /,
    project: str,
    sources: tuple[str, ...],
    ocr_languages: str,
    references: str,
    force_rebuild: bool,
    tenant: str,
) -> None:
    """Read documents into the project ID: PDF, DOCX, HTML, Markdown, JATS XML and plain text.

    SOURCE is a file, a folder with all that is below it, s3://bucket/key, https://... or zotero, which may be narrowed:
    'zotero?collection=Heart failure&tag=review'. What has not changed is skipped. It may be stopped at any time: run it
    again.
    """
    session.tenant = tenant
    given = {
        "ocr_languages": [each.strip() for each in ocr_languages.split(",") if each.strip()],
        "references_path": references,
        "force_rebuild": force_rebuild,
    }
    options = {name: value for name, value in given.items() if value}

    def ask(source: str) -> dict[str, Any]:
        body = _ingest(session, {"project": project, "source": source, **({"options": options} if options else {})})
        if body["state"] != "complete" or body["failed"]:
            session.code = 1
        return body

    try:
        session.answer_each("sources", sources, ask, render)
    except KeyboardInterrupt:
        terminal.warn("stopped; what was read is in the project. Run the same command again to continue.")
        raise


def _ingest(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Ingest one source to its end."""
    with terminal.progress("ingesting") as update:
        return session.ask_to_the_end(ingest_from_source, arguments, lambda: _counted(update))


def _counted(update: Progress) -> Progress:
    def progress(done: int, total: int | None, name: str) -> None:
        update(done, total or None, f"{done:,}/{total or 0:,} documents {name}")

    return progress


def render(body: Mapping[str, Any]) -> None:
    """Print the summary and every warning."""
    style, state = STATES[body["state"]]
    processed, unchanged = body["documents_processed"], body["documents_unchanged"]
    terminal.show(
        terminal.pairs(
            [
                ("project", body["project"]),
                ("state", terminal.styled(state, style)),
                ("documents", f"{processed:,} of {body['documents_expected']:,}, {unchanged:,} unchanged"),
                ("failed", f"{body['failed']:,}"),
                ("passages", f"{body['chunks_written']:,} written"),
                ("seconds", f"{body['duration_seconds']:,.1f}"),
            ]
        )
    )
    for warning in body["warnings"]:
        terminal.warn(warning)
