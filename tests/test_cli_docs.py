"""docs/cli.md has every command and option, and each of its examples is a command line."""

import shlex

import click

from scripts.cli_docs import EXAMPLES, cli_page, commands, options

COMMANDS = {words: context.command for words, context in commands()}
LEAVES = {words: command for words, command in COMMANDS.items() if not isinstance(command, click.Group)}
SECTIONS = {part.partition("\n")[0]: part for part in cli_page().replace("\n### ", "\n## ").split("\n## bio-mcp ")[1:]}


def test_every_command_has_its_section():
    assert list(SECTIONS) == list(COMMANDS)
    assert len(LEAVES) > 20


def test_every_option_stands_in_the_section_of_its_command_with_a_meaning_and_its_default_apart():
    for words, command in LEAVES.items():
        rows = [line.strip("|").split(" | ") for line in SECTIONS[words].splitlines() if line.startswith("| `-")]
        named = [name.strip("` ") for row in rows for name in row[0].split(",")]
        assert named == [name for each in options(command) for name in (*each.opts, *each.secondary_opts)], words
        assert all(row[-1].strip() and "[default" not in row[-1] for row in rows), words


def test_an_example_is_understood_by_its_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pubmed26n1300.xml.gz").touch()
    assert EXAMPLES.keys() <= LEAVES.keys()
    for words, example in EXAMPLES.items():
        assert LEAVES[words].make_context(words, shlex.split(example)).params


def test_a_command_that_takes_something_has_an_example():
    takers = {words for words, command in LEAVES.items() if any(each.required for each in command.params)}
    assert takers - EXAMPLES.keys() == set()


def test_an_option_that_no_user_sets_is_left_out():
    command = click.Command("x", params=[click.Option(["--along"], hidden=True), click.Option(["--host"])])
    assert [each.name for each in options(command)] == ["host"]
