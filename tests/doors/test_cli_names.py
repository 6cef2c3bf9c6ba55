"""Errors name fields and tools as commands do; every option has a meaning, and every field of a tool is reached."""

import click
import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.cli.options import in_words_of_the_command, leaves
from bio_mcp.doors.cli.program import ADMIN, MENU, bio_mcp


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
        ("get", "Look with rag_search.", {"tools": ["rag_search"]}, "Look with `bio-mcp search`."),
        ("get", "Look with query_kg.", {"tools": ["query_kg"]}, "Look with `bio-mcp admin call query_kg`."),
        ("get", "PubMed does not know 'top_k: rag_search'", {}, "PubMed does not know 'top_k: rag_search'"),
        ("kg import", "Line 2: no", {"problems": [{"line": 2}]}, "Line 2: no"),
    ],
)
def test_an_error_names_what_its_details_name_as_the_command_does(path, message, details, worded):
    context = click.Context(dict(commands())[f"bio-mcp {path}"])
    assert in_words_of_the_command({"message": message, "details": details}, context) == worded
    outside = {"message": message, "details": {key: each for key, each in details.items() if key != "tools"}}
    assert in_words_of_the_command(outside, None) == message


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
    ("news", "max_characters"): "the digest is whole",
    ("export", "job_id"): "the command follows its own job to the end",
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
