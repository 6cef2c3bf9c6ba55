"""`bio-mcp kg contraindications`: what is documented against herbs and formulations."""

from collections.abc import Mapping
from typing import Any

import click
from rich.text import Text

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.tools import budget
from bio_mcp.tools.kg import find_contraindications

STYLES = {"high": "bold red", "moderate": "red", "low": "yellow"}


@click.command("contraindications")
@click.argument("herbs", nargs=-1, metavar="HERBS...")
@click.option("--formulation", "formulations", multiple=True, metavar="ID", help="Check this one; repeat for more.")
@answering
def contraindications_command(session: Session, herbs: tuple[str, ...], formulations: tuple[str, ...]) -> None:
    """Show what is documented against HERBS, ids or names, each with its papers, its quotes and its sources.

    A herb is checked with its constituents, a formulation with all that it contains.
    """
    given = {"herb_ids": list(herbs), "formulation_ids": list(formulations)}
    arguments = {name: ids for name, ids in given.items() if ids}
    whole = {**arguments, "max_characters": budget.MOST}
    session.answer(session.ask(find_contraindications, whole), render_contraindications)


def render_contraindications(body: Mapping[str, Any]) -> None:
    """Print each entity with its findings, the strongest first, and every warning."""
    for entity in body["entities"]:
        named = entity["label"] or entity["entity_id"]
        terminal.show("", Text.assemble((named, "bold"), f" ({entity['type']}): {entity['status'].replace('_', ' ')}"))
        for row in body["results"]:
            if (row["entity_id"], row["type"]) == (entity["entity_id"], entity["type"]):
                _show(row)
        for each in entity["candidates"]:
            terminal.show(f"   or {each['label']} ({each['type']} {each['id']})?")
    for warning in body["warnings"]:
        terminal.warn(warning)


def _show(row: Mapping[str, Any]) -> None:
    terminal.show(Text.assemble(f"   {row['contraindication']}  ", (row["strength"], STYLES[row["strength"]])))
    terminal.show(Text(f"      {row['evidence']}"))
    terminal.show(Text(f"      {'; '.join(row['derivation'])}", "italic"))
