"""Options read off an input model."""

from typing import Literal

import click
import pytest
from click.testing import CliRunner
from pydantic import Field

from bio_mcp.doors.cli.options import arguments_of, options_of
from bio_mcp.errors import BIO_MCP
from bio_mcp.tool import Family, Request, Response, tool


class Where(Request):
    year_from: int = Field(default=None, description="first year")
    journals: list[str] = Field(default=None)


class Known(Request):
    year: str = ""
    firstPage: str = ""  # noqa: N815  as contracts name it


class Asking(Request):
    query: str
    top_k: int = Field(default=20, ge=1)
    bias: bool = True
    order: Literal["new", "old"] = "new"
    weight: float | None = None
    filters: Where = Field(default=None)
    references: list[Known] = Field(default=None)
    maxCharacters: int = Field(default=100, ge=1, le=900, description="characters")  # noqa: N815
    detailLevel: Literal["all_of_it", "less_of_it"] = "all_of_it"  # noqa: N815


class Answer(Response):
    ok: bool


@tool("asking.now", family=Family("t", BIO_MCP), scope="read", timeout=1)
def asking(request: Asking, backends) -> Answer:
    """Ask."""
    return Answer(ok=True)


NAMES = {"firstPage": "--page", "maxCharacters": "--max", "detailLevel": "--as"}


def given(*argv, without=(), **more):
    """The tool's arguments for a command line."""
    got = {}

    @click.command()
    @click.argument("query")
    @options_of(asking, without=("query", *without), names=NAMES, **more)
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
        (["x", "--year", "2020", "--page", "7"], {"query": "x", "references": [{"year": "2020", "firstPage": "7"}]}),
    ],
)
def test_options_become_the_arguments_of_the_tool(argv, arguments):
    assert given(*argv) == arguments


def test_the_words_of_a_command_stand_for_the_values_of_its_tool():
    words = {"detailLevel": {"all": "all_of_it", "less": "less_of_it"}}
    assert given("x", "--as", "less", choices=words) == {"query": "x", "detailLevel": "less_of_it"}
    assert "--as [all|less]" in given("--help", choices=words)
    assert "[default: all]" in given("--help", choices=words)


def test_a_command_may_ask_for_the_most_that_its_tool_gives():
    assert given("x", whole=("maxCharacters",)) == {"query": "x", "maxCharacters": 900}
    assert "characters, at most 900 [default: 900]" in given("--help", whole=("maxCharacters",))
    assert "characters, at most 900 [default: 100]" in given("--help")


def test_the_help_tells_meaning_and_default_of_each_field_but_those_that_are_left_out():
    shown = given("--help")
    assert all(each in shown for each in ("first year", "[default: 20]", "--weight"))
    assert "--weight" not in given("--help", without=("weight",))


def test_what_was_not_given_is_left_to_the_tool():
    assert asking.input.model_validate(given("x")).top_k == 20
