"""`bio-mcp locate`: where a quoted sentence is from."""

from collections.abc import Mapping
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, words
from bio_mcp.doors.cli.projects import place_in
from bio_mcp.doors.cli.session import Session
from bio_mcp.tools.projects import locate_quote

FOUND = {"exactly": "It stands there as quoted.", "nearly": "It does not stand there as quoted."}


@click.command("locate")
@words("quote")
@click.option("--project", metavar="ID", help="Look in this project, not in the corpus.")
@click.option("--document", "doc_id", metavar="DOC_ID", help="Look in this document alone.")
@answering
def locate_command(session: Session, quote: str, project: str | None, doc_id: str | None) -> None:
    """Find where the sentence QUOTE is from, and whether it is quoted exactly."""
    given = {"quote": quote, "project": project, "doc_id": doc_id}
    arguments = {name: value for name, value in given.items() if value is not None}
    session.answer(session.ask(locate_quote, arguments), render_places)


def render_places(body: Mapping[str, Any]) -> None:
    """Print each place with what differs there."""
    if body["found"] in FOUND:
        terminal.say(FOUND[body["found"]])
        terminal.show("", Group(*(_place(each) for each in body["places"])))
    for warning in body["warnings"]:
        terminal.warn(warning)


def _place(place: Mapping[str, Any]) -> RenderableType:
    first, last = place["page_span"] or (None, None)
    path = place["section_path"] or [place["section"] or ""]
    named = [f"PMID {place['pmid']}" if place["pmid"] else "", place["doi"] or ""]
    where = ", ".join(filter(None, [*place_in(place["citekey"], path, first, last), *named]))
    lines = [Text(where, "italic"), Text(place["text"]), *map(_difference, place["differences"])]
    title = Text(place["title"] or place["doc_id"], "bold")
    return Group(title, *(Padding(line, (0, 0, 0, 3), expand=False) for line in lines if line), "")


def _difference(each: Mapping[str, str]) -> Text:
    quoted, there = each["quote"] or "nothing", each["text"] or "nothing"
    return Text.assemble(("quoted: ", "dim"), (quoted, "red"), ("  there: ", "dim"), (there, "green"))
