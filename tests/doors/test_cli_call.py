"""`bio-mcp call`: every tool by its name, with JSON."""

import io
import json
import sys
from types import SimpleNamespace

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from tests.examples import EXAMPLES

READ = '{"doc_id": "pmid:27602157"}'


@pytest.fixture
def typed(monkeypatch):
    """What comes in by standard input."""
    return lambda given: monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(given)))


@pytest.mark.parametrize("name", [name for name in EXAMPLES if not TOOLS[name].open_world])
def test_it_answers_what_every_door_answers(cli, name):
    cli.fill(3)
    ran = cli("call", TOOLS[name].portable_name, json.dumps(EXAMPLES[name]))
    with cli.corpus() as corpus:
        answer = call(TOOLS[name], EXAMPLES[name], corpus, local=True).body
    if "error" in answer:
        assert ran.code == 1
        assert answer["error"]["code"] in {"NOT_FOUND", "INVALID_PROJECT"}
    else:
        assert (ran.code, ran.json.keys()) == (0, answer.keys())


@pytest.mark.parametrize("name", ["rag.get", "rag_get"])
def test_a_tool_is_called_by_each_of_its_names(cli, name):
    cli.fill()
    assert cli("call", name, READ).json["doc_id"] == "pmid:27602157"


def test_arguments_come_from_a_file_or_standard_input(cli, tmp_path, typed):
    cli.fill()
    (tmp_path / "read.json").write_text(READ)
    typed(READ.encode())
    asked = [cli("call", "rag_get", given).json for given in (f"@{tmp_path}/read.json", "-")]
    assert asked[0] == asked[1]
    assert asked[0]["doc_id"] == "pmid:27602157"


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["rag_serch"], "There is no tool 'rag_serch'; did you mean rag_search? See `bio-mcp call --help`."),
        (["x"], "There is no tool 'x'; `bio-mcp tools` lists them. See"),
        (["rag_get", "pmid:1"], "JSON cannot be read: Expecting value at line 1, column 1."),
        (["rag_get", "7"], 'JSON is not an object of arguments, such as {"query": "migraine"}.'),
        (["rag_get", "@nowhere.json"], "nowhere.json cannot be read: No such file or directory."),
        (["rag_get", "[" * 100_000], "JSON is nested too deep."),
        (["rag_get", '{"pmid": "1"}'], "doc_id: Field required"),
    ],
)
def test_what_cannot_be_called_is_one_sentence_and_exit_code_two(cli, argv, sentence):
    ran = cli("call", *argv)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err


def test_arguments_that_are_no_text_are_refused(cli, typed):
    typed(b"\xff")
    ran = cli("call", "rag_get", "-")
    assert (ran.code, ran.err.startswith("error: JSON is not UTF-8.")) == (2, True)


def test_arguments_keep_the_names_of_the_tool(cli):
    assert "filters.year_from: 2020 is after year_to, 2010" in (
        cli("call", "rag_search", '{"query": "x", "filters": {"year_from": 2020, "year_to": 2010}}').err
    )
