"""`bio-mcp call`: any tool by its name, with its arguments as JSON."""

import json
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from bio_mcp.catalog import TOOLS
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.tool import Tool, by_any_name


@click.command("call")
@click.argument("name", metavar="TOOL")
@click.argument("given", metavar="[JSON]", default="{}")
@answering
def call_command(session: Session, name: str, given: str) -> None:
    """Call TOOL with the arguments in JSON, and print its answer as JSON.

    TOOL is a name that `bio-mcp tools` lists. JSON is an object, such as '{"query": "migraine"}'; @FILE reads it from a
    file and - from standard input; without it there are no arguments. docs/tools.md has the arguments of each tool.
    """
    session.answer(session.ask(_tool(name), _arguments(given), worded=False), terminal.print_json)


def _tool(name: str) -> Tool:
    """The tool with that name, in any of its forms. Raises `UsageError` with the closest name."""
    known = by_any_name(TOOLS.values())
    if tool := known.get(name):
        return tool
    alike = get_close_matches(name, [tool_.portable_name for tool_ in TOOLS.values()], n=1, cutoff=0.5)
    hint = f"did you mean {alike[0]}?" if alike else "`bio-mcp tools` lists them."
    raise click.UsageError(f"There is no tool {name[:100]!r}; {hint}")


def _arguments(given: str) -> dict[str, Any]:
    """The JSON object from the command line, a file or standard input. Raises `UsageError`."""
    try:
        arguments = json.loads(_text(given))
    except UnicodeDecodeError:
        raise click.UsageError("JSON is not UTF-8.") from None
    except RecursionError:
        raise click.UsageError("JSON is nested too deep.") from None
    except json.JSONDecodeError as wrong:
        place = f"line {wrong.lineno}, column {wrong.colno}"
        raise click.UsageError(f"JSON cannot be read: {wrong.msg} at {place}.") from None
    if not isinstance(arguments, dict):
        raise click.UsageError('JSON is not an object of arguments, such as {"query": "migraine"}.')
    return arguments


def _text(given: str) -> str:
    if given == "-":
        return sys.stdin.buffer.read().decode()
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_bytes().decode()
    except OSError as error:
        raise click.UsageError(f"{given[1:]} cannot be read: {error.strerror}.") from None
