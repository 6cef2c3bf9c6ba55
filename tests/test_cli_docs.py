"""docs/cli.md has every command and option, and each of its examples is a command line."""

import shlex

import click
import pytest

from scripts.cli_docs import EXAMPLES, cli_page, commands, options

COMMANDS = {words: context.command for words, context in commands()}
LEAVES = {words: command for words, command in COMMANDS.items() if not isinstance(command, click.Group)}
SECTIONS = {part.partition("\n")[0]: part for part in cli_page().replace("\n### ", "\n## ").split("\n## bio-mcp ")[1:]}


def test_every_command_has_its_section():
    assert list(SECTIONS) == list(COMMANDS)
    assert len(LEAVES) > 20


@pytest.mark.parametrize("words", LEAVES)
def test_every_option_stands_in_the_section_of_its_command(words):
    rows = [line.split(" | ")[0] for line in SECTIONS[words].splitlines() if line.startswith("| `-")]
    named = [name.strip("|` ") for row in rows for name in row.split(",")]
    shown = [option for option in LEAVES[words].params if isinstance(option, click.Option) and not option.hidden]
    assert named == [name for option in shown for name in (*option.opts, *option.secondary_opts)]


@pytest.mark.parametrize("words", LEAVES)
def test_every_option_has_a_meaning_and_no_default_is_hidden_in_it(words):
    rows = [line.strip("|").split(" | ") for line in SECTIONS[words].splitlines() if line.startswith("| `-")]
    assert all(row[-1].strip() and "[default" not in row[-1] for row in rows)


@pytest.mark.parametrize("words", [words for words in LEAVES if words in EXAMPLES])
def test_an_example_is_understood_by_its_command(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pubmed26n1300.xml.gz").touch()
    made = LEAVES[words].make_context(words, shlex.split(EXAMPLES[words]))
    assert made.params


def test_a_command_that_takes_something_has_an_example():
    takers = {words for words, command in LEAVES.items() if any(each.required for each in command.params)}
    assert takers - EXAMPLES.keys() == set()


def test_an_option_that_no_user_sets_is_left_out():
    command = click.Command("x", params=[click.Option(["--along"], hidden=True), click.Option(["--host"])])
    assert [each.name for each in options(command)] == ["host"]
