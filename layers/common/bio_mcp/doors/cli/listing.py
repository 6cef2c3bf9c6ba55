"""`bio-mcp tools`: what clients see."""

from collections.abc import Mapping
from typing import Any

import click

from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors import console
from bio_mcp.doors.cli.options import as_json
from bio_mcp.doors.cli.session import Session
from bio_mcp.tool import Resource, Tool


@click.command("tools")
@as_json
@click.pass_obj
def tools_command(session: Session, as_json: bool) -> None:
    """List the tools and resources that MCP clients see, by family."""
    session.as_json = as_json
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
        "summary": each.description.partition("\n")[0],
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
        "summary": each.description.partition("\n")[0],
    }


def render(body: Mapping[str, Any]) -> None:
    """A table of tools, a table of resources."""
    tools = [
        (each["family"], each["name"], "reads" if each["read_only"] else "writes", each["summary"])
        for each in body["tools"]
    ]
    console.show(console.table(("family", "tool", "", "what it does"), tools))
    resources = [(each["family"], each["uri"], each["summary"]) for each in body["resources"]]
    console.show(console.table(("family", "resource", "what it holds"), resources))
