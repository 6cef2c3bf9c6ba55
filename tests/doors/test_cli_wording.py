"""What tools say, said in the words of the command line; and every option of every command has a meaning."""

import click
import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.doors.cli.options import leaves
from bio_mcp.doors.cli.program import COMMANDS, bio_mcp
from bio_mcp.doors.cli.wording import ARGUMENTS, for_commands, in_commands, option


@pytest.mark.parametrize(
    ("message", "worded"),
    [
        ("Look with rag.search for it.", "Look with `bio-mcp search` for it."),
        ("Look with `rag_search`.", "Look with `bio-mcp search`."),
        ("look for it with searchPubMedArticles", "look for it with `bio-mcp pubmed search`"),
        ("Sync a PubMed query (pubmed.sync_delta)", "Sync a PubMed query (`bio-mcp sync`)"),
        ("filters.year_from: 2020 is after year_to, 2010", "--year-from: 2020 is after --year-to, 2010"),
        ("dateRange: minDate 2020 is after maxDate 2010", "--from and --to: --from 2020 is after --to 2010"),
        ("filters.journals.0: too long; top_k: too many", "--journals: too long; --top-k: too many"),
        ("pmids.3: 'x' is not a PMID", "PMIDS: 'x' is not a PMID"),
        ("includeMeshTerms: should be true or false", "--include-mesh-terms: should be true or false"),
        ("PubMed does not know 'query_gene: x'", "PubMed does not know 'query_gene: x'"),
        ("the term is long", "the term is long"),
    ],
)
def test_tools_and_arguments_are_named_as_commands_and_options(message, worded):
    assert in_commands(message) == worded


def test_a_warning_may_begin_with_the_name_of_a_file():
    body = {"warnings": ["paper.pdf: raise top_k", "notes.text: cut"], "error": {"message": "query: x"}}
    worded = for_commands(body)
    assert worded["warnings"] == ["paper.pdf: raise --top-k", "notes.text: cut"]
    assert worded["error"]["message"] == "QUERY: x"


def test_no_tool_keeps_its_name():
    for each in TOOLS.values():
        if each.command:
            assert in_commands(f"ask {each.name}") == f"ask `bio-mcp {each.command}`"
            assert in_commands(f"ask {each.portable_name}") == f"ask `bio-mcp {each.command}`"


def commands(command=bio_mcp, path="bio-mcp"):
    """Every command and subcommand, by what is typed for it."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), f"{path} {name}")
    else:
        yield path, command


ALONE = {  # fields that are given by `bio-mcp call` alone, and why
    ("get", "max_characters"): "a person is shown the whole paper",
    ("kg contraindications", "max_characters"): "a person is shown all of them",
    ("projects list", "cursor"): "the command goes on to the end of the list",
    ("queries list", "cursor"): "the command goes on to the end of the list",
    ("queries list", "starts_with"): "a terminal has filters of its own",
    **{("check-refs", field): "FILE has the references" for field in ("text", "items")},
    **{("check-refs", field): "the command reads every answer to the end" for field in ("start", "job_id")},
    ("sync", "job_id"): "the command follows its own job to the end",
    ("projects search", "query"): "another document's name of TEXT",
    ("ingest", "job_id"): "the command follows its own job to the end",
    ("export", "query_key"): "--query-key, as QUERY is a question",
    ("news", "max_characters"): "the digest is whole",
    ("export", "job_id"): "the command follows its own job to the end",
    ("export", "pmids"): "--pmid is given once for each",
    ("eval run", "job_id"): "the command follows its own job to the end",
    ("eval run", "uri"): "--set takes the file",
    ("eval run", "metrics"): "--metric is given once for each",
}
ELSEWHERE = {"pubmed related": ["pubmed cite"]}  # commands that are the same tool's


def reachable(command):
    """What is typed for a command: its options, and its arguments as they are shown."""
    shown = {each.make_metavar(click.Context(command)).strip("[].") for each in command.params}
    return shown | {opt for each in command.params for opt in each.opts}


@pytest.mark.parametrize("name", [name for name, each in TOOLS.items() if each.command])
def test_every_argument_of_a_tool_can_be_given_to_its_command(name):
    by_path, first = dict(commands()), TOOLS[name].command
    offered = {each for path in [first, *ELSEWHERE.get(first, [])] for each in reachable(by_path[f"bio-mcp {path}"])}
    missing = {each.name for each in leaves(TOOLS[name].input) if option(each.name) not in offered | {"PMID"}}
    assert missing == {field for command, field in ALONE if command == first}
    assert by_path[f"bio-mcp {first}"].params


@pytest.mark.parametrize(("path", "command"), list(commands()), ids=lambda each: each if isinstance(each, str) else "")
def test_every_option_says_what_it_means(path, command):
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert [each.name for each in options if not (each.help or "").split("[")[0].strip()] == []


def test_what_an_argument_is_called_is_an_option_or_argument_of_a_command():
    offered = {opt for _, command in commands() for each in command.params for opt in each.opts}
    shown = {each.make_metavar(click.Context(command)) for _, command in commands() for each in command.params}
    named = {word for name in ARGUMENTS.values() for word in name.split(" and ")}
    assert {each for each in named if each.startswith("--")} <= offered
    assert {each for each in named if not each.startswith("--")} <= {each.rstrip(".") for each in shown}
    assert {path.split()[1] for path, _ in commands()} == set(COMMANDS)
