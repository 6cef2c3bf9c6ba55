"""Options are read off an input model; errors name them as commands do; every field of a tool is reached."""

from typing import Literal

import click
import pytest
from click.testing import CliRunner
from pydantic import Field

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.cli.options import (
    arguments_of,
    in_words_of_the_command,
    leaves,
    options_of,
    warning_of_the_command,
)
from bio_mcp.doors.cli.program import ADMIN, MENU, bio_mcp
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


def commands(command=bio_mcp, path="bio-mcp"):
    """Every command and subcommand, by what is typed for it."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), f"{path} {name}")
    else:
        yield path, command


@pytest.mark.parametrize(
    ("path", "message", "details", "worded"),
    [
        (
            "search",
            "filters.year_from: 2020 is after it",
            {"field": "filters.year_from"},
            "--year-from: 2020 is after it",
        ),
        ("pubmed search", "dateRange.minDate: it", {"field": "dateRange.minDate"}, "--from: it"),
        ("pubmed fetch", "pmids.3: 'x' is none", {"problems": [{"loc": ["pmids", 3]}]}, "PMIDS: 'x' is none"),
        (
            "search",
            "filters.journals.0: too long; top_k: too many",
            {"problems": [{"loc": ["filters", "journals", 0]}, {"loc": ["top_k"]}]},
            "--journals: too long; --top-k: too many",
        ),
        ("pubmed search", "queryTerm: too short", {"problems": [{"loc": ["queryTerm"]}]}, "TERM: too short"),
        ("get", "Look with rag_search.", {}, "Look with `bio-mcp search`."),
        ("get", "A chapter's query_kg.", {}, "A chapter's `bio-mcp admin call query_kg`."),
        ("get", "PubMed does not know 'top_k: rag_search'", {}, "PubMed does not know 'top_k: rag_search'"),
        ("get", "a query or search, pubmed_sync", {}, "a query or search, pubmed_sync"),
        ("kg import", "Line 2: no", {"problems": [{"line": 2}]}, "Line 2: no"),
    ],
)
def test_an_error_names_what_its_details_name_as_the_command_does(path, message, details, worded):
    context = click.Context(dict(commands())[f"bio-mcp {path}"])
    assert in_words_of_the_command({"message": message, "details": details}, context) == worded


@pytest.mark.parametrize(
    ("path", "sentence", "worded"),
    [
        ("pubmed search", 'dateRange.minDate: "2020" was read as it', '--from: "2020" was read as it'),
        ("search", "Look there (searchPubMedArticles): now", "Look there (`bio-mcp pubmed search`): now"),
        ("search", "The corpus is small.", "The corpus is small."),
    ],
)
def test_a_warning_names_fields_and_tools_as_the_command_does(path, sentence, worded):
    context = click.Context(dict(commands())[f"bio-mcp {path}"])
    assert warning_of_the_command(sentence, context) == worded


ALONE = {  # fields that are given by `bio-mcp admin call` alone, and why
    ("get", "max_characters"): "a person is shown the whole paper",
    ("kg contraindications", "max_characters"): "a person is shown all of them",
    ("projects list", "cursor"): "the command goes on to the end of the list",
    ("admin queries list", "cursor"): "the command goes on to the end of the list",
    ("admin queries list", "starts_with"): "a terminal has filters of its own",
    **{("check-refs", field): "FILE has the references" for field in ("text", "items")},
    **{("check-refs", field): "the command reads every answer to the end" for field in ("start", "job_id")},
    ("pubmed related", "maxCharacters"): "articles are counted, not characters",
    ("sync", "job_id"): "the command follows its own job to the end",
    ("projects search", "query"): "another document's name of TEXT",
    ("ingest", "job_id"): "the command follows its own job to the end",
    ("ingest", "create"): "projects create makes one, and says how",
    ("projects list", "project"): "a list of projects, not of documents",
    ("news", "max_characters"): "the digest is whole",
    ("export", "job_id"): "the command follows its own job to the end",
    ("export", "review"): "`bio-mcp review export` does",
    ("eval run", "job_id"): "the command follows its own job to the end",
    ("eval run", "uri"): "--set takes the file",
}
OTHERWISE = {
    "form": {"format"},
    "style": {"citationStyles", "moreStyles"},
    "sources": {"source"},
    "name": {"set"},
    "pmids": {"doc_id", "pmids"},
}


def fields(command):
    """The fields of its tool that a command takes."""
    return set().union(*(OTHERWISE.get(each.name, {each.name}) for each in command.params))


ELSEWHERE = {"pubmed related": ["pubmed cite"]}  # commands that are the same tool's


@pytest.mark.parametrize("name", [name for name, each in TOOLS.items() if each.command])
def test_every_argument_of_a_tool_can_be_given_to_its_command(name):
    by_path, first = dict(commands()), TOOLS[name].command
    offered = {each for path in [first, *ELSEWHERE.get(first, [])] for each in fields(by_path[f"bio-mcp {path}"])}
    missing = {each.name for each in leaves(TOOLS[name].input) if each.name not in offered}
    assert missing == {field for command, field in ALONE if command == first}
    assert by_path[f"bio-mcp {first}"].params


def test_every_command_takes_json_but_the_one_that_speaks_nothing_else():
    without = [
        path for path, command in commands() if "--json" not in {o for each in command.params for o in each.opts}
    ]
    assert without == ["bio-mcp stdio"]


def test_the_menu_has_at_most_24_commands_in_titled_groups():
    top = [name for section in MENU.values() for name in section]
    assert len(top) <= 24
    assert {path.split()[1] for path, _ in commands()} == set(top)
    assert not set(top) & {name for section in ADMIN.values() for name in section}


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["serch"], "'search'"),
        (["admin", "reindx"], "Did you mean 'reindex'?"),
        (["pubmed", "cit"], "Did you mean 'cite'?"),
        (["search", "x", "--top"], "--top-k"),
        (["models", "list"], "It is `bio-mcp admin models`."),
    ],
)
def test_what_is_nearly_a_command_is_said(cli, argv, hint):
    ran = cli(*argv)
    assert (ran.code, hint in ran.err) == (2, True)
