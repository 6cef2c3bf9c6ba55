"""Options read off an input model."""

from typing import Literal

import click
import pytest
from click.testing import CliRunner
from pydantic import Field

from bio_mcp.dialects import BIO_MCP
from bio_mcp.doors.cli.options import arguments_of, options_of
from bio_mcp.tool import Family, Request, Response, tool


class Where(Request):
    year_from: int = Field(default=None, description="first year")
    journals: list[str] = Field(default=None)


class Asking(Request):
    query: str
    top_k: int = Field(default=20, ge=1)
    bias: bool = True
    order: Literal["new", "old"] = "new"
    weight: float | None = None
    filters: Where = Field(default=None)


class Answer(Response):
    ok: bool


@tool("asking.now", family=Family("t", BIO_MCP), timeout=1)
def asking(request: Asking, backends) -> Answer:
    """Ask."""
    return Answer(ok=True)


def given(*argv):
    """The tool's arguments for a command line."""
    got = {}

    @click.command()
    @click.argument("query")
    @options_of(asking, without=("query",))
    def command(**parameters):
        got.update(arguments_of(asking, parameters))

    result = CliRunner().invoke(command, list(argv), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return got if "--help" not in argv else result.output


@pytest.mark.parametrize(
    ("argv", "arguments"),
    [
        (["x"], {"query": "x"}),
        (["x", "--top-k", "3"], {"query": "x", "top_k": 3}),
        (["x", "--top-k", "0"], {"query": "x", "top_k": 0}),
        (["x", "--bias"], {"query": "x", "bias": True}),
        (["x", "--no-bias"], {"query": "x", "bias": False}),
        (["x", "--order", "old"], {"query": "x", "order": "old"}),
        (["x", "--weight", "0.5"], {"query": "x", "weight": 0.5}),
        (["x", "--year-from", "2020"], {"query": "x", "filters": {"year_from": 2020}}),
        (["x", "--journals", "a", "--journals", "b"], {"query": "x", "filters": {"journals": ["a", "b"]}}),
    ],
)
def test_options_become_the_arguments_of_the_tool(argv, arguments):
    assert given(*argv) == arguments


def test_what_was_not_given_is_left_to_the_tool():
    assert asking.input.model_validate(given("x")).top_k == 20


def test_the_help_tells_meaning_and_default():
    shown = given("--help")
    assert "first year" in shown
    assert "[default: 20]" in shown
