"""`bio-mcp tools`: lists the tools and resources that clients see."""

from collections.abc import Mapping
from typing import Any

import click
from rich.padding import Padding
from rich.text import Text

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.tool import Resource, Tool


@click.command("tools")
@answering
def tools_command(session: Session) -> None:
    """List the tools and resources that MCP clients see, by family."""
    session.answer(listing(), render)


def listing() -> dict[str, Any]:
    """Every tool and resource, as JSON."""
    return {
        "tools": [_tool(each) for each in TOOLS.values()],
        "resources": [_resource(each) for each in RESOURCES.values()],
    }


def _tool(each: Tool) -> dict[str, Any]:
    return {
        "name": each.name,
        "portable_name": each.portable_name,
        "family": each.family.name,
        "summary": summary(each),
        "read_only": each.read_only,
        "timeout_s": each.timeout,
        "input_schema": each.input_schema,
        "output_schema": each.output_schema,
    }


def _resource(each: Resource) -> dict[str, Any]:
    return {
        "uri": each.uri,
        "name": each.name,
        "family": each.family.name,
        "summary": summary(each),
    }


def summary(each: Tool | Resource) -> str:
    """The first sentence of its description."""
    sentence, stop, _ = f"{' '.join(each.description.split())} ".partition(". ")
    return sentence + stop.rstrip()


def render(body: Mapping[str, Any]) -> None:
    """Print a paragraph per tool and resource: its name, family and summary."""
    for each in body["tools"]:
        _paragraph(each["portable_name"], f"{each['family']}, {'reads' if each['read_only'] else 'writes'}", each)
    for each in body["resources"]:
        _paragraph(each["uri"], f"{each['family']}, resource", each)


def _paragraph(name: str, kind: str, each: Mapping[str, Any]) -> None:
    title = Text.assemble((name, "bold"), (f"  {kind}", "dim"), overflow="fold")
    terminal.show(title, Padding(Text(each["summary"]), (0, 0, 0, 4), expand=False))
